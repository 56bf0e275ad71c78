/** The option `adapters`: its text form, and the checks of its values. */
import type { LoraAdapter } from "../../contract/backend.ts";
import { type InferyardError, invalidInput } from "../../contract/errors.ts";

/** An adapter from the text "PATH" or "PATH=SCALE". Text after the last "=" that is not a number belongs to the path. */
export function parseAdapter(text: string): LoraAdapter {
  const [, path = "", written = ""] = /^(.+)=([^=]+)$/.exec(text) ?? [];
  const scale = Number(written);
  return path === "" || written.trim() === "" || !Number.isFinite(scale) ? { path: text } : { path, scale };
}

/** Throws INPUT_INVALID if `value` is set and is not a list of adapters with at least one. */
export function checkAdapters(value: unknown): void {
  if (value === undefined) return;
  if (!Array.isArray(value) || value.length === 0) throw invalid(`adapters is ${JSON.stringify(value)}`);
  for (const [index, adapter] of value.entries()) {
    const where = `adapters[${index}]`;
    if (typeof adapter !== "object" || adapter === null) throw invalid(`${where} is ${JSON.stringify(adapter)}`);
    const { path, scale = 1, ...others } = adapter as Readonly<Record<string, unknown>>;
    if (typeof path !== "string" || path === "") throw invalid(`${where}.path is ${JSON.stringify(path)}`);
    if (typeof scale !== "number" || !Number.isFinite(scale)) throw invalid(`${where}.scale is ${String(scale)}`);
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) throw invalid(`${where} has no member "${unknown}"`);
  }
}

function invalid(message: string): InferyardError {
  return invalidInput(message, 'write a list such as [{ path: "./adapter.gguf", scale: 0.5 }], or leave it out');
}
