was_there = tools.archive.remove(path="old.txt").unwrap()
print("It was there." if was_there else "It was not there.")
was_there
