import type { Command } from "commander";
import type { StoredModel } from "../../../models/model-store.ts";
import { openStore } from "../../model-store.ts";
import { formatTable } from "../../output/table.ts";
import { type Terminal, writeLine } from "../../terminal.ts";
import { formatBytes, plural } from "../../output/units.ts";

/** Defines the command `list`. */
export function defineList(command: Command, terminal: Terminal): void {
  command.action(async ({ json }: { readonly json?: boolean }) => {
    const store = openStore(terminal);
    const { records: models, damaged } = await store.inventory();
    if (json === true) {
      const report = {
        folder: store.folder,
        models: models.map(toJson),
        damaged: damaged.map(({ name, path, problem, remedy }) => ({ name, path, problem, remedy })),
      };
      return writeLine(terminal.stdout, JSON.stringify(report));
    }
    for (const { name, problem, remedy } of damaged)
      writeLine(terminal.stderr, `inferyard: the record of ${name} is damaged: ${problem}\n  ${remedy}`);
    if (models.length === 0) {
      writeLine(terminal.stdout, `no models in ${store.folder}`);
      return writeLine(terminal.stdout, "  fetch one: inferyard pull hf:sentence-transformers/all-MiniLM-L6-v2");
    }
    const rows = models.map((model) => [
      model.name,
      formatBytes(getSize(model)),
      model.tasks[0] ?? "-",
      getVariants(model),
      localTime(model.lastUsed),
    ]);
    writeLine(terminal.stdout, formatTable(rows, ["model", "size", "task", "variants", "last used"]));
    // Models may share files; the disk holds those once.
    const files = new Map(models.flatMap((model) => model.files.map(({ sha256, size }) => [sha256, size])));
    const bytes = [...files.values()].reduce((sum, size) => sum + size, 0);
    writeLine(terminal.stdout, `${plural(models.length, "model")}, ${formatBytes(bytes)} in ${store.folder}`);
  });
}

function toJson(model: StoredModel): object {
  return { ...model, bytes: getSize(model), formats: getFormats(model) };
}

/** Size of a model in bytes. */
export function getSize({ files }: StoredModel): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

function getFormats({ variants, files }: StoredModel): string[] {
  const weights = variants.length > 0 ? variants.flatMap((variant) => variant.files.slice(0, 1)) : files.map(({ path }) => path);
  return [
    ...new Set(
      weights.map((path) => /\.(onnx|safetensors|gguf|aimod)$/.exec(path)?.[1]).filter((format) => format !== undefined),
    ),
  ];
}

/** "onnx (fp32, int8), safetensors (fp16)". */
function getVariants(model: StoredModel): string {
  const groups = getFormats(model).map((format) => {
    const own = model.variants.filter(({ files }) => files[0]?.endsWith(`.${format}`) === true).map(({ name }) => name);
    return own.length === 0 ? format : `${format} (${own.join(", ")})`;
  });
  return groups.join(", ") || "-";
}

/** Date and time to the minute, in the time zone of the machine. */
export function localTime(iso: string): string {
  const date = new Date(iso);
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
