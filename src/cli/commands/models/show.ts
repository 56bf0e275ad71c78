import type { Command } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import type { StoredModel } from "../../../models/model-store.ts";
import type { ModelInspection } from "../../../inspection/index.ts";
import { getContextLength } from "../../../models/context-length.ts";
import { type Manifest, readManifest } from "../../../models/index.ts";
import { usualKind } from "../../../models/language-tasks.ts";
import type { Decision } from "../../../runtime/decision/decision.ts";
import { openStore } from "../../model-store.ts";
import { addPlacementFlags, withSession } from "../../session.ts";
import { formatTable } from "../../output/table.ts";
import { type Terminal, writeAll } from "../../terminal.ts";
import { formatBytes } from "../../output/units.ts";
import { formatDecision } from "./explain.ts";
import { localTime } from "../store/list.ts";

/** Everything known of a model. */
interface ModelReport {
  readonly manifest: Manifest;
  readonly inspection: ModelInspection;
  readonly decision: Decision;
  /** Left out for a model that is not in the store. */
  readonly stored?: StoredModel;
}

/** Defines the command `show`. */
export function defineShow(command: Command, terminal: Terminal): void {
  addPlacementFlags(command.argument("<model>", "model reference")).action(
    async (model: string, flags: Record<string, unknown>) => {
      await withSession(terminal, flags, model, async ({ runtime, settings }) => {
        const { variant } = settings;
        const decision = await runtime.explain(model, variant === undefined ? {} : { variant });
        const manifest = await readManifest(model);
        const { inspectModel } = await import("../../../inspection/index.ts");
        const inspection = await inspectModel(model);
        const stored = await storedModel(model, manifest, terminal);
        const shown = { manifest, inspection, decision, ...omitUndefined({ stored }) };
        await writeAll(terminal.stdout, `${flags["json"] === true ? JSON.stringify(toJson(shown)) : format(shown, command)}\n`);
      });
    },
  );
}

/** The stored model, if that was read: a path may look like a name of the store. */
async function storedModel(model: string, { directory }: Manifest, terminal: Terminal): Promise<StoredModel | undefined> {
  const store = openStore(terminal);
  return directory.startsWith(store.folder) ? await store.find(model) : undefined;
}

/** Tensors are counted, not listed: `inspect --json` lists them. */
function toJson({ manifest, inspection, decision, stored }: ModelReport): object {
  const files = inspection.files.map(({ path, format, bytes, parameters, tensors, backends }) => {
    return { path, format, bytes, parameters, tensors: tensors.length, backends };
  });
  return { manifest, weights: files, decision, stored: stored ?? null };
}

function format({ manifest, inspection, decision, stored }: ModelReport, command: Command): string {
  const headline = [manifest.name, ...manifest.tasks.slice(0, 1), ...(manifest.license === undefined ? [] : [manifest.license])];
  const facts = [...storedFacts(stored), ["folder", manifest.directory], ...textFacts(manifest)];
  return [
    headline.join("   "),
    formatTable(facts),
    "variants",
    variantTable(manifest, inspection),
    ...fileTable(stored),
    "a load",
    formatDecision(decision, command),
  ].join("\n");
}

function storedFacts(stored: StoredModel | undefined): string[][] {
  if (stored === undefined) return [];
  const { reference, commit, pulledAt, lastUsed } = stored;
  const version = commit === undefined ? "" : `, commit ${commit.slice(0, 12)}`;
  return [
    ["from", `${reference}${version}`],
    ["pulled", `${localTime(pulledAt)}, last used ${localTime(lastUsed)}`],
  ];
}

function textFacts(manifest: Manifest): string[][] {
  const { text } = manifest;
  if (text === undefined) return [["tokenizer", "none"]];
  const vectors = [`pooling ${text.pooling ?? "unknown"}`, ...(text.normalize ? ["normalized"] : [])].join(", ");
  const prompts = Object.keys(text.prompts);
  const isLanguage = usualKind(manifest) === "language";
  return [
    ["tokenizer", text.tokenizerShown],
    ["text", isLanguage ? getLimit(manifest) : `${getLimit(manifest)}, ${vectors}`],
    ...(prompts.length === 0 ? [] : [["prompts", prompts.join(", ")]]),
  ];
}

/** Maximum length of a text as stated by the model's files; for a language model, prompt and generated text together. */
function getLimit(manifest: Manifest): string {
  const { maxTokens, maxTokensSource = "stated" } = manifest.text ?? {};
  const length = getContextLength(manifest);
  if (length === undefined) return "no limit stated";
  return length === maxTokens ? `${length} tokens (${maxTokensSource})` : `${length} tokens (context length)`;
}

/** The inspection has each file once, in the order of the variants. */
function variantTable({ variants }: Manifest, { files }: ModelInspection): string {
  const paths = [...new Set(variants.map(({ path }) => path))];
  const rows = variants.map(({ name, format, precision, bytes, path }) => {
    const tensors = files[paths.indexOf(path)]?.tensors.length;
    return [name, format, precision ?? "-", formatBytes(bytes), tensors === undefined ? "-" : String(tensors)];
  });
  return formatTable(rows, ["name", "format", "precision", "size", "tensors"]);
}

function fileTable(stored: StoredModel | undefined): string[] {
  if (stored === undefined) return [];
  const rows = stored.files.map(({ path, size, sha256 }) => [path, formatBytes(size), sha256.slice(0, 16)]);
  return ["files", formatTable(rows, ["path", "size", "sha256"])];
}
