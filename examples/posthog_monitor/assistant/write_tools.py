# The assistant has no tool for this, so it writes one. `client` and `contract` are the texts of proposal/.
for name, text in (("client", client), ("tools", contract)):
    written = tools.files.write(path=f"tools/posthog_custom/{name}.py", text=text).unwrap()
    print("wrote", written["path"], written["size"], "bytes")
