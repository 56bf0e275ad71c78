/** The libraries of this machine as text. */
import { dirname, sep } from "node:path";
import type { LibraryInventory, InstalledLibrary } from "../../libraries/inventory/index.ts";
import type { SearchedLocation } from "../../libraries/discovery/index.ts";
import { formatTable, printable } from "../output/table.ts";
import { plural } from "../output/units.ts";

/** Columns that a text from a file may take. */
const maxColumns = 200;

/**
 * Libraries that fit this machine, then the locations where some were found or could not be read. Builds of one class in one folder are one row.
 * `all`: every library with all its paths, and every location.
 */
export function formatLibraries({ libraries, locations }: LibraryInventory, all: boolean): string {
  const shown = all ? libraries : libraries.filter(({ fits }) => fits);
  const groups = all ? shown.map((library) => [library]) : groupBuilds(shown);
  const rows = groups.map(toRow);
  const notes = groups.map(([first]) => (all && first !== undefined ? getDetails(first) : undefined));
  const hidden = libraries.length - shown.length;
  return [
    rows.length === 0 ? "no library for inference was found" : formatTable(rows, ["library", "version", "from", "path"], notes),
    ...(hidden === 0 ? [] : [`not shown, for they do not fit this machine: ${plural(hidden, "file")}; --all says why`]),
    "locations",
    formatLocations(locations, all),
  ].join("\n");
}

/** Libraries of the same class and version that lie in the same folder. */
function groupBuilds(libraries: readonly InstalledLibrary[]): readonly (readonly InstalledLibrary[])[] {
  const groups = new Map<string, InstalledLibrary[]>();
  for (const library of libraries) {
    const key = JSON.stringify([getTitle(library), library.version?.value, dirname(library.path)]);
    groups.set(key, [...(groups.get(key) ?? []), library]);
  }
  return [...groups.values()];
}

function toRow(group: readonly InstalledLibrary[]): readonly string[] {
  return group.slice(0, 1).flatMap((library) => {
    const { path, version, package: owner, foundBy } = library;
    const variants = group.flatMap(({ classes }) => classes.slice(0, 1).flatMap(({ variant }) => variant ?? []));
    const builds = group.length > 1 ? ` (${group.length} builds)` : variants.length > 0 ? ` (${variants.join(", ")})` : "";
    const from = owner === undefined ? foundBy.join(", ") : `${owner.name} ${owner.version}`;
    const shownPath = group.length > 1 ? `${dirname(path)}${sep}` : path;
    return [`${getTitle(library)}${builds}`, version?.value ?? "-", from, shownPath].map((cell) => printable(cell, maxColumns));
  });
}

/** What the library is, or that only its name says so. */
function getTitle({ classes: [first] }: InstalledLibrary): string {
  if (first === undefined) return "not known";
  return first.confidence === "possible" ? `${first.title}, by its name alone` : first.title;
}

function getDetails({ path, paths, problems }: InstalledLibrary): string | undefined {
  const details = [...problems, ...paths.filter((other) => other !== path).map((other) => `also ${other}`)];
  return details.length === 0 ? undefined : printable(details.join("; "), maxColumns);
}

function formatLocations(locations: readonly SearchedLocation[], all: boolean): string {
  const shown = all
    ? locations
    : locations.filter(
        ({ outcome, notes }) => outcome === "found" || outcome === "unreadable" || (outcome === "empty" && notes.length > 0),
      );
  const rows = shown.map(({ rule, outcome, libraries, path = "-" }) =>
    [rule, outcome === "found" ? plural(libraries, "path") : outcome, path].map((cell) => printable(cell, maxColumns)),
  );
  const notes = shown.map(({ notes: lines }) => (lines.length === 0 ? undefined : printable(lines.join("; "), maxColumns)));
  const hidden = locations.length - shown.length;
  return [
    ...(rows.length === 0 ? [] : [formatTable(rows, undefined, notes)]),
    ...(hidden === 0 ? [] : [`not shown: ${plural(hidden, "location")} without a library; --all lists them`]),
  ].join("\n");
}
