import type { Command } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import type { PullProgress, PullReport } from "../../../models/model-store.ts";
import { isRemote, parseHubName, parseRemote } from "../../../models/reference/remote-reference.ts";
import { describeProgress } from "../../output/download-progress.ts";
import { openStore } from "../../model-store.ts";
import { addSettingFlags, effectiveSettings, withNotice } from "../../session.ts";
import { type Terminal, writeLine } from "../../terminal.ts";
import { formatBytes, formatMilliseconds, plural } from "../../output/units.ts";

/** Defines the command `pull`. */
export function definePull(command: Command, terminal: Terminal): void {
  command
    .argument(
      "<model>",
      "hf:owner/name[@revision][:variant], the address of a file with #sha256:<digest> behind it, or a name in the store",
    )
    .option("--variant <name>", "variant to download, for example int8 (default: the one that a load would prefer)");
  addSettingFlags(command, ["offline"]).action(async (model: string, flags: Record<string, unknown>) => {
    const { values, configured, origins } = await effectiveSettings(terminal, flags);
    // A setting is for references that name none; a flag beside a reference that names one is a contradiction.
    const variant = origins.variant === "--variant" || !namesVariant(model) ? values.variant : undefined;
    let latest: PullProgress | undefined;
    const pulling = openStore(terminal).pull(model, {
      ...omitUndefined({ variant, offline: configured.offline }),
      signal: terminal.signal,
      onProgress: (progress) => (latest = progress),
    });
    const notice = (elapsed: string): string =>
      latest === undefined ? `pulling ${model} ${elapsed}` : describeProgress(latest, terminal.stderr.columns);
    const report = await withNotice(terminal, notice, pulling);
    writeLine(terminal.stdout, flags["json"] === true ? JSON.stringify(report) : summary(report));
  });
}

function namesVariant(reference: string): boolean {
  const parsed = isRemote(reference) ? parseRemote(reference) : parseHubName(reference);
  return parsed?.kind === "hub" && parsed.variant !== undefined;
}

function summary({
  reference,
  name,
  variant,
  variants,
  files,
  bytes,
  fetchedBytes,
  milliseconds,
  unsupported,
}: PullReport): string {
  const what = [...(variants.length > 0 ? [variants.join(", ")] : []), plural(files, "file"), formatBytes(bytes)];
  const fetched =
    fetchedBytes === 0 ? "nothing to fetch" : `${formatBytes(fetchedBytes)} fetched in ${formatMilliseconds(milliseconds)}`;
  const use = `${reference}${variant === undefined ? "" : `:${variant}`}`;
  return [
    `${name}   ${what.join(", ")}   ${fetched}`,
    unsupported === undefined ? `  try it: inferyard explain ${use}` : `  this version cannot run it: ${unsupported}`,
  ].join("\n");
}
