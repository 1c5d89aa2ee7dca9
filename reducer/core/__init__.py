"""The nouns: frozen data that every layer speaks, standard library only."""
