/**
 * Program of the child process that loads libraries for the first time, in order. Its arguments: how many of them must load, and the absolute paths of those
 * and of others, which the loader may refuse.
 */
import { ForeignFunctions } from "../ffi/index.ts";
import { workForParent } from "./child-program.ts";

const [required = "0", ...files] = process.argv.slice(2);

await workForParent("LOAD_FAILED", "a library could not be loaded", async (tell) => {
  const ffi = await ForeignFunctions.load();
  for (const [index, path] of files.entries()) {
    try {
      ffi.open(path);
    } catch (error) {
      if (index < Number(required)) throw error;
    }
    // oxlint-disable-next-line no-await-in-loop
    await tell({ kind: "loaded" });
  }
});
