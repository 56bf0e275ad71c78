/** Applies the rules of library-classes.ts to the exports and the name of a library. */
import type { BinaryFile } from "../binaries/index.ts";
import type { LibraryClass } from "./library-analysis.ts";
import { type ClassRule, classRules } from "./library-classes.ts";

/** The classes of a library, in the order of the rules; empty if no rule applies. `fileName`: the name without its folder. */
export function classifyLibrary(binary: BinaryFile, fileName: string): LibraryClass[] {
  const exported = new Set(binary.symbols.filter(({ isExported }) => isExported).map(({ name }) => name));
  const ownName = binary.name?.slice(binary.name.lastIndexOf("/") + 1);
  const names = [...new Set([ownName, fileName].filter((name) => name !== undefined))];
  return classRules.flatMap((rule) => applyRule(rule, exported, names) ?? []);
}

function applyRule(rule: ClassRule, exported: ReadonlySet<string>, names: readonly string[]): LibraryClass | undefined {
  const found = rule.functions.flatMap((each) => each.split("|").find((name) => exported.has(name)) ?? []);
  const named = names.find((name) => rule.fileName.test(name.toLowerCase()));
  if (found.length === 0 && named === undefined) return undefined;
  if (rule.decidedByName === true && named === undefined) return undefined;
  const variant = rule.variant === undefined ? undefined : capture(rule.variant, names);
  return {
    name: rule.name,
    title: rule.title,
    confidence: getConfidence(rule, found.length, named !== undefined),
    variant,
    evidence: [
      found.length === 0
        ? `exports none of the ${rule.functions.length} functions that identify it`
        : `exports ${found.length} of ${rule.functions.length} functions that identify it: ${found.join(", ")}`,
      ...(named === undefined ? [] : [`is called ${named}`]),
      ...(variant === undefined
        ? []
        : [`the build ${variant} is known from the file name alone; all builds export the same functions`]),
    ],
  };
}

function getConfidence({ functions, decidedByName }: ClassRule, found: number, isNamed: boolean): LibraryClass["confidence"] {
  if (found === functions.length) return decidedByName === true ? "likely" : "certain";
  return found > 0 && (isNamed || found * 2 >= functions.length) ? "likely" : "possible";
}

function capture(pattern: RegExp, names: readonly string[]): string | undefined {
  return names.map((name) => pattern.exec(name.toLowerCase())?.[1]).find((variant) => variant !== undefined);
}
