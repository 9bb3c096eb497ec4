"""From a file to its pieces: text in blocks, cut where its structure allows. Pure; strange files are read in
a process of their own (`knowledge.sandbox`)."""
