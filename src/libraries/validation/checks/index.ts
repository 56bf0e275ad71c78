/** The checks of each contract, in order. Each runs code of the library. */
import type { ContractName } from "../../contracts/index.ts";
import { bitnetChecks } from "./bitnet.ts";
import type { LibraryCheck } from "./checked-library.ts";
import { functionsCheck } from "./functions.ts";
import { ggmlChecks } from "./ggml.ts";
import { llamaChecks } from "./llama.ts";
import { onnxruntimeChecks } from "./onnxruntime.ts";
import { pjrtChecks } from "./pjrt.ts";

const own: Readonly<Record<ContractName, readonly LibraryCheck[]>> = {
  llama: llamaChecks,
  ggml: ggmlChecks,
  onnxruntime: onnxruntimeChecks,
  pjrt: pjrtChecks,
  bitnet: bitnetChecks,
};

/** All checks of a contract. */
export function getChecks(contract: ContractName): readonly LibraryCheck[] {
  return [functionsCheck, ...own[contract]];
}
