"""How is one pass run by itself, on a graph that is made by hand?"""
