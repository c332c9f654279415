"""Acts of the demonstration, in the order of their file names; one added here is found by itself."""
