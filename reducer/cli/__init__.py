"""What does a user type, and what do they see? Commands, one file each, and the rendering."""
