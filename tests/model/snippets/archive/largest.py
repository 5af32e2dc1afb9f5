from operator import itemgetter

max(tools.archive.entries().unwrap(), key=itemgetter("size"))["path"]
