/**
 * Names keep to the words of the field: private words that earlier names used do not come back. It looks at names of files and folders, exported
 * declarations, their public members, settings and flags. `../shared/STYLE.md` and docs/decisions/0017 say which word stands for what.
 */
import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../src/", import.meta.url));

/** Words that no name contains, by what they are called now. */
const replaced: Readonly<Record<string, string>> = {
  bend: "activation",
  gladdest: "the name of the measure",
  landlord: "memory manager",
  loan: "overhead budget",
  mortal: "crashing",
  moody: "failing",
  orders: "commands",
  recipe: "fold key",
  surroundings: "platform, lowering context, hub configuration",
  tenant: "resident model",
  wish: "constraints",
  wishes: "constraints",
};

/** Whole names that nothing has. */
const replacedNames: Readonly<Record<string, string>> = {
  Stage: "Segment (of a graph); SelectionStage (of a decision)",
  StageTree: "SegmentTree",
  Question: "DataDependency",
  ValueUnknown: "DataDependencyError",
  HostWork: "InterpretedOp",
  openFolds: "ConstantFoldingCache",
  FoldMemo: "ConstantFoldingCache",
  ProgramMaker: "Compiler",
  Place: "BufferRef, ModelLocation, ...",
  HeldElements: "LazyStorage",
  letGo: "release",
  asTheyAre: "unpacked",
  CopyPlace: "ReplicaSlot",
  CopyGroup: "ReplicaGroup",
  copies: "replicas",
  Stay: "Reservation",
  Turn: "SchedulingKey",
  Turns: "Mutex",
  Pace: "yield to the event loop",
  nextTurn: "yieldToEventLoop",
  SharingBalance: "ParallelismGovernor",
  loanMs: "overheadBudgetMs",
  ticket: "workCounter",
  learnedPlaces: "positionEmbeddings",
  mixed: "attention",
  restMs: "backoffMs",
  resting: "crashLoop",
  toMakeRoomFor: "evictedFor",
  worstDifference: "maxDifference",
};

const wordsOf = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(/[^A-Za-z]+/)
    .map((word) => word.toLowerCase());

/** What is wrong with a name; undefined where nothing is. */
function complaint(name: string): string | undefined {
  if (Object.hasOwn(replacedNames, name)) return `${name}: now ${replacedNames[name]}`;
  const word = wordsOf(name).find((each) => Object.hasOwn(replaced, each));
  if (word !== undefined) return `${name}: "${word}" is now ${replaced[word]}`;
  const bound = /^(most|least|fewest)[A-Z-]/.exec(name)?.[1];
  return bound === undefined ? undefined : `${name}: "${bound}" is now ${bound === "most" ? "max" : "min"}`;
}

const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.name.startsWith("generated-"))
  .map((entry) => join(entry.parentPath, entry.name));

function isPublic(member: ts.ClassElement | ts.TypeElement): boolean {
  const flags = ts.isClassElement(member) ? ts.getCombinedModifierFlags(member) : ts.ModifierFlags.None;
  return (flags & ts.ModifierFlags.Private) === 0 && member.name !== undefined && !ts.isPrivateIdentifier(member.name);
}

/** Members that a type written out has, those of its parts included. */
function membersOf(type: ts.TypeNode): readonly ts.TypeElement[] {
  if (ts.isTypeLiteralNode(type)) return [...type.members];
  if (ts.isUnionTypeNode(type) || ts.isIntersectionTypeNode(type)) return type.types.flatMap(membersOf);
  return [];
}

function namesOf(statement: ts.Statement): readonly string[] {
  if (!ts.canHaveModifiers(statement) || !ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword))
    return [];
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name.getText());
  if (ts.isFunctionDeclaration(statement)) return [statement.name?.text ?? ""];
  const members = (list: readonly (ts.ClassElement | ts.TypeElement)[]): readonly string[] =>
    list.filter(isPublic).map(({ name }) => name!.getText());
  if (ts.isInterfaceDeclaration(statement)) return [statement.name.text, ...members([...statement.members])];
  if (ts.isClassDeclaration(statement)) return [statement.name?.text ?? "", ...members([...statement.members])];
  if (ts.isTypeAliasDeclaration(statement)) return [statement.name.text, ...members(membersOf(statement.type))];
  return [];
}

/** Names of the properties that a JSON schema describes, at any depth. */
function propertiesOf(schema: unknown): readonly string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { properties } = schema as { properties?: object };
  return [...Object.keys(properties ?? {}), ...Object.values(schema).flatMap(propertiesOf)];
}

describe("names use the words of the field", () => {
  it("of files and folders", () => {
    const names = files.flatMap((file) => file.slice(root.length).split("/")).map((name) => basename(name, ".ts"));
    expect([...new Set(names)].flatMap((name) => complaint(name) ?? [])).toEqual([]);
  });

  it("of exported declarations and their members", () => {
    const complaints = files
      .filter((file) => !file.endsWith(".test.ts"))
      .flatMap((file) => {
        const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
        return source.statements.flatMap(namesOf).flatMap((name) => {
          const found = complaint(name);
          return found === undefined ? [] : [`${file.slice(root.length)}  ${found}`];
        });
      });
    expect(complaints).toEqual([]);
  });

  it("of settings, flags and published fields", () => {
    const folder = fileURLToPath(new URL("../../schemas/", import.meta.url));
    const fields = readdirSync(folder).flatMap((file) => [...propertiesOf(JSON.parse(readFileSync(join(folder, file), "utf8")))]);
    const flags = files
      .filter((file) => file.startsWith(join(root, "cli")))
      .flatMap((file) => [...readFileSync(file, "utf8").matchAll(/--([a-z][a-z-]+)/g)].map(([, flag]) => flag!));
    expect(fields.length).toBeGreaterThan(100);
    expect(flags.length).toBeGreaterThan(100);
    expect([...new Set([...fields, ...flags])].flatMap((name) => complaint(name) ?? [])).toEqual([]);
  });
});
