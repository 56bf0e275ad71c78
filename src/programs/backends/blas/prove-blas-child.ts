/** Program of the child process that loads a library and computes matrix products with it. Its arguments: how many must pass, and the absolute paths. */
import { ForeignFunctions } from "../../../libraries/ffi/index.ts";
import { workForParent } from "../../../libraries/validation/child-program.ts";
import { BlasLibrary } from "./blas-library.ts";
import { proveProducts } from "./prove-blas.ts";

/** Products on two threads: more than one, and few enough for every machine. */
const threads = 2;

await workForParent("LOAD_FAILED", "the library could not be tried", async (tell) => {
  const ffi = await ForeignFunctions.load();
  for (const path of process.argv.slice(3)) {
    proveProducts(BlasLibrary.open(ffi, path), threads);
    // oxlint-disable-next-line no-await-in-loop
    await tell({ kind: "loaded" });
  }
});
