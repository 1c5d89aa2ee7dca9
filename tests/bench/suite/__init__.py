"""ExecuTorch's own operator tests as subjects: what of them fails here, and to what does it reduce?"""
