/** Writes the types of `inferyard/client`: `npm run client`. */
import { writeFileSync } from "node:fs";
import { clientTypes, clientTypesFile } from "./client-types.ts";

writeFileSync(clientTypesFile, await clientTypes());
