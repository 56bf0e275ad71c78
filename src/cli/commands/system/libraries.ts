import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import { invalidInput } from "../../../contract/errors.ts";
import { type AcceleratorInfo, type ProbedBackend, listAccelerators } from "../../../libraries/accelerators/index.ts";
import { contracts } from "../../../libraries/contracts/index.ts";
import type { DiscoveryOptions } from "../../../libraries/discovery/index.ts";
import { type InstalledLibrary, buildFlags, listLibraries } from "../../../libraries/inventory/index.ts";
import { writeAtomically } from "../../../platform/node/atomic-write.ts";
import { formatAccelerators } from "../../libraries/format-accelerators.ts";
import { formatLibraries } from "../../libraries/format-libraries.ts";
import { type LibraryFlags, verifyLibrary } from "../../libraries/verify-library.ts";
import { withNotice, withSession } from "../../session.ts";
import { checkWritable } from "../../tensors/write-npy.ts";
import { type Terminal, writeAll, writeLine } from "../../terminal.ts";
import { withOutputErrors } from "../../../platform/node/output-errors.ts";

/** Defines the command `libraries`. */
export function defineLibraries(command: Command, terminal: Terminal): void {
  command
    .argument("[action]", "verify: load the library at the path in a child process, and prove its binary interface")
    .argument("[path]", "with verify: a shared library")
    .addOption(
      new Option("--contract <name>", "with verify: what the library must keep; without it, that of its class").choices(
        Object.keys(contracts),
      ),
    )
    .option("--python [path]", "look into Python packages as well: of python3, of an interpreter, or of a folder")
    .option("--all", "list every library with all its paths, those that do not fit this machine, and every location")
    .option("--emit <file>", "write flags for builds (hasCuda, hasLlama, ...) and their paths as JSON")
    .option("--accelerators", "list PyTorch's accelerators instead: what is here of each, and what uses it")
    .option("--run", "with --accelerators: run a tiny computation on every target first")
    .action(async (action: string | undefined, path: string | undefined, flags: LibraryFlags) => {
      if (action !== undefined) return verifyLibrary(action, path, flags, terminal);
      if (flags.contract !== undefined) {
        throw invalidInput("--contract requires verify", "inferyard libraries verify PATH --contract NAME");
      }
      if (flags.run === true && flags.accelerators !== true) {
        throw invalidInput("--run requires --accelerators", "add --accelerators, or leave --run out");
      }
      if (flags.emit !== undefined) await checkWritable(resolve(terminal.directory, flags.emit));
      const inventory = await withNotice(terminal, "analyzing libraries", listLibraries(discoveryOptions(flags, terminal)));
      const { libraries } = inventory;
      if (flags.emit !== undefined) await emitFlags(flags.emit, libraries, terminal);
      const accelerators = flags.accelerators === true ? await accelerated(flags, libraries, terminal) : undefined;
      const text = accelerators === undefined ? formatLibraries(inventory, flags.all === true) : formatAccelerators(accelerators);
      const result = accelerators === undefined ? inventory : { accelerators };
      await writeAll(terminal.stdout, `${flags.json === true ? JSON.stringify(result) : text}\n`);
      if (flags.emit !== undefined && flags.quiet !== true) writeLine(terminal.stderr, `flags written to ${flags.emit}`);
    });
}

function discoveryOptions({ python }: LibraryFlags, { environment, directory, signal }: Terminal): DiscoveryOptions {
  return { environment, directory, signal, ...omitUndefined({ python }) };
}

async function accelerated(
  flags: LibraryFlags,
  libraries: readonly InstalledLibrary[],
  terminal: Terminal,
): Promise<readonly AcceleratorInfo[]> {
  return withSession(terminal, flags, undefined, async ({ runtime }) => {
    const { signal } = terminal;
    const machine = await runtime.machine();
    const backends: readonly ProbedBackend[] =
      flags.run === true
        ? await withNotice(terminal, "running a tiny computation on every target", runtime.backends({ run: true, signal }))
        : [];
    return await listAccelerators({ machine, libraries, backends, signal });
  });
}

/** Builds read the file while others may write it: it is replaced as a whole. */
async function emitFlags(file: string, libraries: readonly InstalledLibrary[], { directory }: Terminal): Promise<void> {
  const text = `${JSON.stringify(buildFlags(libraries), undefined, 2)}\n`;
  await withOutputErrors(file, () => writeAtomically(resolve(directory, file), (handle) => handle.writeFile(text)));
}
