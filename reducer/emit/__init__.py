"""The artefacts: what a reduction leaves for people and for machines. No torch in here."""
