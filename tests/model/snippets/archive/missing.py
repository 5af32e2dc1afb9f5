try:
    doc = tools.archive.fetch(path="nothing.txt").unwrap()
    result = doc["path"]
except ToolCallError as error:
    result = error.code

result
