/** Program of the child process of `ask-driver.ts`: its request is the path of the driver library, and its answer the GPUs. */
import { answerParent } from "../../../platform/node/child-report.ts";
import { ForeignFunctions } from "../../ffi/index.ts";
import { readCudaDevices } from "./cuda-driver.ts";

await answerParent(async (path) => readCudaDevices(await ForeignFunctions.load(), path as string));
