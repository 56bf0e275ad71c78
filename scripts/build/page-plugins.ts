/** Plugins of the bundle for pages. */
import { resolve } from "node:path";
import type { Plugin } from "rolldown";
import { parseAst } from "rolldown/parseAst";
import { packageRoot } from "../../src/bundling/write-bundle.ts";
import { pageReplacements } from "./page-entries.ts";

function replaceModules(replacements: Readonly<Record<string, string>>): Plugin {
  const paths = new Map(Object.entries(replacements).map(([from, to]) => [resolve(packageRoot, from), resolve(packageRoot, to)]));
  return {
    name: "replace-modules",
    resolveId: {
      async handler(source, importer, options) {
        const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
        const replacement = resolved === null ? undefined : paths.get(resolved.id);
        return replacement === undefined || replacement === importer ? resolved : replacement;
      },
    },
  };
}

/** Properties of the tables of options and of tasks that only documentation, the command line and a server read. */
const sentences = new Set(["description", "flag", "command", "route", "input", "output", "models", "files"]);

/** Leaves the sentences of the tables of options and of tasks out of a page. Lines stay. */
const leaveOutSentences: Plugin = {
  name: "leave-out-sentences",
  transform: {
    filter: {
      id: /\/src\/(runtime\/options\/(runtime|load)-options|tasks\/([\w-]+-)?definitions|tasks\/reading\/reading-task)\.ts$/,
    },
    handler(code) {
      let left = code;
      const visit = (node: unknown): void => {
        if (typeof node !== "object" || node === null) return;
        const { type, key, start, end } = node as Partial<Record<string, unknown>>;
        const isSentence = type === "Property" && sentences.has(String((key as { name?: string }).name));
        if (!isSentence) return Object.values(node).forEach(visit);
        const [from, to] = [Number(start), code.indexOf(",", Number(end)) + 1];
        left = left.slice(0, from) + code.slice(from, to).replaceAll(/[^\n]/g, " ") + left.slice(to);
      };
      visit(parseAst(code, { lang: "ts" }));
      return { code: left, map: null };
    },
  },
};

export const pagePlugins: readonly Plugin[] = [replaceModules(pageReplacements), leaveOutSentences];
