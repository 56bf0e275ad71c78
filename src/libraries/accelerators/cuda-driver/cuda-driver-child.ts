/** Program of the child process of `ask-driver.ts`. argv[2] is the path of the driver library as JSON; the last line of stdout is the report. */
import { getMessage } from "../../../contract/errors.ts";
import { ForeignFunctions } from "../../ffi/index.ts";
import type { DriverReport } from "./ask-driver.ts";
import { readCudaDevices } from "./cuda-driver.ts";

async function report(): Promise<DriverReport> {
  try {
    return { devices: readCudaDevices(await ForeignFunctions.load(), JSON.parse(process.argv[2] ?? "") as string) };
  } catch (error) {
    return { problem: getMessage(error) };
  }
}

process.stdout.write(`${JSON.stringify(await report())}\n`, () => process.exit());
