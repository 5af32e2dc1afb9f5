import csv
import io

buffer = io.StringIO()
writer = csv.writer(buffer, lineterminator="\n")
writer.writerow(["id", "from"])
for m in tools.mail.list(folder="archive").unwrap():
    writer.writerow([m["id"], m["from"]])

tools.mail.send(
    to=["me@home.example"],
    subject="CSV",
    body="attached",
    attachment=buffer.getvalue().encode("utf-8"),
).unwrap()
