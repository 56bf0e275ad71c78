/** Program of the child process that loads the libraries of CUDA and computes with them. Its arguments: how many must pass, and the absolute paths: driver, NVRTC, cuBLAS. */
import { workForParent } from "../../../libraries/validation/child-program.ts";
import { openCuda, proveCuda } from "./cuda-libraries.ts";

await workForParent("LOAD_FAILED", "the libraries could not be tried", async (tell) => {
  const [driver = "", nvrtc = "", cublas] = process.argv.slice(3);
  proveCuda(await openCuda({ driver, nvrtc, cublas }));
  for (const _ of process.argv.slice(3)) await tell({ kind: "loaded" });
});
