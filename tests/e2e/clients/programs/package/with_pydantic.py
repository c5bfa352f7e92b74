"""Pydantic accepts the classes of scru_postgres."""

import re
import sys

from pydantic import BaseModel, ValidationError
from scru_postgres import Scru128


# block 1 of README.md#pydantic-and-fastapi


for text in sys.argv[1:]:
    for order in Order(id=text.swapcase()), Order.model_validate_json(f'{{"id": "{text}"}}'):
        assert (type(order.id), order.id) == (Scru128, text)
        assert order.model_dump(mode="json") == {"id": text}
        assert Order.model_validate_json(order.model_dump_json()) == order

schema = Order.model_json_schema()["properties"]["id"]
assert schema["minLength"] == schema["maxLength"] == len(sys.argv[1])
assert (schema["title"], schema["type"]) == ("Id", "string")
for text in (*sys.argv[1:], *schema["examples"]):
    assert re.search(schema["pattern"], text) and re.search(schema["pattern"], text.swapcase())
for malformed in "!", "", 5, None:
    try:
        Order(id=malformed)
    except ValidationError as error:
        print("malformed", error.errors()[0]["loc"][0], error.errors()[0]["type"])
