from datetime import date

match tools.staff.shifts(day=date(2026, 12, 25)):
    case Ok(shifts):
        answer = shifts
    case Err(error):
        answer = error.code

answer
