// Reads UUIDs from the standard input, one a line. Prints how many of them each library takes as version 4.
import { readFileSync } from "node:fs";

import { validate, version } from "uuid";
import validator from "validator";
import * as z from "zod";

const uuids = readFileSync(0, "utf8").trim().split("\n");
const accepted = (accepts) => uuids.filter(accepts).length;

console.log("zod", accepted((uuid) => z.uuidv4().safeParse(uuid).success));
console.log("uuid", accepted((uuid) => validate(uuid) && version(uuid) === 4));
console.log("validator", accepted((uuid) => validator.isUUID(uuid, 4)));
