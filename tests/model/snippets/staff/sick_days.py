absences = tools.staff.absences(kind="sick").unwrap()
sum((a["to"] - a["from"]).days + 1 for a in absences)
