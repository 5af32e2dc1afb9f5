from decimal import Decimal

lowest = min(tools.staff.people().unwrap(), key=lambda p: p["salary"])
updated = tools.staff.raise_salary(person_id=lowest["id"], by=Decimal("1500")).unwrap()
updated["salary"]
