/** Docstrings of exported declarations and of their public members, read from the sources without a type check. */
import { readFileSync } from "node:fs";
import ts from "typescript";

/** One docstring, and the declaration that it describes. */
export interface Docstring {
  /** Path from the root of the repository. */
  readonly file: string;
  /** Line of the declaration, from 1. */
  readonly line: number;
  /** Name of the declaration; of a member, the name of its type and a dot before it. */
  readonly name: string;
  /** The sentences, without the marks of the comment. */
  readonly text: string;
}

interface Named {
  readonly name: string;
  readonly node: ts.Node;
}

/** The docstrings of the file at `root` + `file`, in the order of the lines. Declarations without one are left out. */
export function readDocstrings(root: string, file: string): readonly Docstring[] {
  const source = ts.createSourceFile(file, readFileSync(root + file, "utf8"), ts.ScriptTarget.Latest, true);
  return source.statements.flatMap(exportedNodes).flatMap(({ name, node }) => {
    const text = getDocstring(node);
    if (text === undefined) return [];
    return [{ file, line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1, name, text }];
  });
}

/** An exported statement and its public members. */
function exportedNodes(statement: ts.Statement): readonly Named[] {
  if (!ts.canHaveModifiers(statement) || !ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword))
    return [];
  if (ts.isVariableStatement(statement))
    return [{ name: statement.declarationList.declarations.map(({ name }) => name.getText()).join(", "), node: statement }];
  if (ts.isFunctionDeclaration(statement)) return [{ name: statement.name?.text ?? "", node: statement }];
  if (ts.isInterfaceDeclaration(statement) || ts.isClassDeclaration(statement)) {
    const name = statement.name?.text ?? "";
    return [{ name, node: statement }, ...statement.members.flatMap((member) => memberNodes(name, member))];
  }
  if (!ts.isTypeAliasDeclaration(statement)) return [];
  const name = statement.name.text;
  return [{ name, node: statement }, ...writtenMembers(statement.type).flatMap((member) => memberNodes(name, member))];
}

function memberNodes(owner: string, member: ts.ClassElement | ts.TypeElement): readonly Named[] {
  const isPrivate = (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private) !== 0;
  if (isPrivate || member.name === undefined || ts.isPrivateIdentifier(member.name)) return [];
  return [{ name: `${owner}.${member.name.getText()}`, node: member }];
}

/** Members of an object type that is written out, also as a part of a union or an intersection. */
function writtenMembers(type: ts.TypeNode): readonly ts.TypeElement[] {
  if (ts.isTypeLiteralNode(type)) return [...type.members];
  return ts.isUnionTypeNode(type) || ts.isIntersectionTypeNode(type) ? type.types.flatMap(writtenMembers) : [];
}

/** The last comment before the node, without its marks; undefined if there is none. */
function getDocstring(node: ts.Node): string | undefined {
  const comment = ts.getJSDocCommentsAndTags(node).findLast((each) => ts.isJSDoc(each));
  if (comment === undefined) return undefined;
  const text = comment
    .getText()
    .replace(/^\/\*\*/, "")
    .replace(/\*\/$/, "")
    .replaceAll(/^\s*\* ?/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return text === "" ? undefined : text;
}
