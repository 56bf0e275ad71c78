/** Parts of the output for all file formats. Names and texts from the file are made safe to print. */
import type { BackendVerdict, InspectedTensor, TypeCount } from "../../inspection/index.ts";
import { formatTable, printable } from "../output/table.ts";
import { formatBytes } from "../output/units.ts";

/** A heading and its rows; nothing if there are no rows. */
export function section(title: string, rows: readonly (readonly string[])[], head?: readonly string[]): string[] {
  return rows.length === 0 ? [] : [title, formatTable(rows, head)];
}

/** A count with thousands separators. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** A count with its noun: "1 node", "1,289 nodes". */
export function formatAmount(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A shape: [batch, 128, ?]. */
export function formatShape(shape: readonly (number | string | null)[]): string {
  const axes = shape.map((size) => (size === null ? "?" : typeof size === "number" ? String(size) : printable(size, 30)));
  return `[${axes.join(", ")}]`;
}

/** Number and size of the tensors of each data type. */
export function typesSection(title: string, types: readonly TypeCount[]): string[] {
  const rows = types.map(({ type, tensors, parameters, bytes }) => [
    type,
    formatCount(tensors),
    formatCount(parameters),
    formatBytes(bytes),
  ]);
  return section(title, rows, ["type", "tensors", "parameters", "bytes"]);
}

const words: Readonly<Record<BackendVerdict["verdict"], string>> = { expected: "should run", no: "no", unknown: "not known" };

/** The table of `inferyard inspect` that says which backends can run the file, and why others cannot. */
export function backendsSection(backends: readonly BackendVerdict[]): string[] {
  const rows = backends.map(({ backend, verdict, reason }) => [backend, words[verdict], printable(reason, 200)]);
  return section("backends", rows, ["backend", "verdict", "why"]);
}

/** The table of `inferyard inspect --tensors`: name, type, shape and bytes of every tensor. */
export function tensorsSection(tensors: readonly InspectedTensor[]): string[] {
  const rows = tensors.map(({ name, type, shape, bytes }) => [
    printable(name, 100),
    type,
    formatShape(shape),
    formatCount(bytes),
  ]);
  return section("tensors", rows, ["name", "type", "shape", "bytes"]);
}
