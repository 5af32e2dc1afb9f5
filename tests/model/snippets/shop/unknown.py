match tools.shop.stock(sku="CUP"):
    case Ok(number):
        answer = number
    case Err(error):
        answer = error.hint

answer
