/** The accelerators of this machine as text. */
import type { AcceleratorInfo } from "../../libraries/accelerators/index.ts";
import { formatTable, printable } from "../output/table.ts";

/** Columns that a text from the machine may take. */
const maxColumns = 200;

/** A row for each accelerator: what it needs, whether it is there and why, and what uses it. */
export function formatAccelerators(accelerators: readonly AcceleratorInfo[]): string {
  const rows = accelerators.map(({ name, displayName, needsGpu, requiredLibraries, state, reason }) => {
    const needs = [...(needsGpu ? ["GPU"] : []), ...requiredLibraries].join(", ");
    return [name, displayName, state, needs === "" ? "-" : needs, printable(reason, maxColumns)];
  });
  const uses = accelerators.map(({ use }) => use);
  return formatTable(rows, ["accelerator", "name", "state", "needs", "why, and what uses it"], uses);
}
