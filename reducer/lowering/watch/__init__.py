"""What does every compiler pass do to a program, and which one breaks it?"""
