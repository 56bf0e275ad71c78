import type { Command } from "commander";
import { openStore } from "../../model-store.ts";
import { type Terminal, writeLine } from "../../terminal.ts";
import { formatBytes, plural } from "../../output/units.ts";

/** Defines the command `prune`. */
export function definePrune(command: Command, terminal: Terminal): void {
  command.action(async ({ json }: { readonly json?: boolean }) => {
    const report = await openStore(terminal).prune();
    if (json === true) return writeLine(terminal.stdout, JSON.stringify(report));
    const { blobs, downloads, trees, locks, freedBytes, pullRunning } = report;
    const counts = [
      [blobs, "file"],
      [downloads, "unfinished download"],
      [trees, "folder"],
      [locks, "lock"],
    ] as const;
    const removed = counts.filter(([count]) => count > 0).map(([count, noun]) => plural(count, noun));
    const what = removed.length === 0 ? "nothing to remove" : `${removed.join(", ")} removed`;
    writeLine(terminal.stdout, `${what}, ${formatBytes(freedBytes)} freed`);
    if (pullRunning) writeLine(terminal.stdout, "  a pull is running: what it has fetched so far was left alone");
  });
}
