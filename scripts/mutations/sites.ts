/** Finds the places of a source file where one token can be changed, such as an operator, a constant or an instruction, and what it is changed to. */
import ts from "typescript";

/** A change of one token. */
export interface Mutation {
  /** Path of the file, from the repository's root. */
  readonly file: string;
  /** Line of the token, from 1. */
  readonly line: number;
  /** Offset of the first changed character in the file. */
  readonly start: number;
  readonly before: string;
  readonly after: string;
  /** The line of the token as it is, without indentation. */
  readonly code: string;
}

const binary: Readonly<Record<string, string>> = {
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "&&": "||",
  "||": "&&",
  "<<": ">>",
  ">>": "<<",
  ">>>": "<<",
  "&": "|",
  "|": "&",
  "^": "&",
  "**": "*",
  "+=": "-=",
  "-=": "+=",
  "*=": "+=",
};

/** Instructions of WebAssembly and functions of Math, by their names without the type. */
const functions: Readonly<Record<string, string>> = {
  add: "sub",
  sub: "add",
  mul: "add",
  div: "mul",
  min: "max",
  max: "min",
  pmin: "pmax",
  pmax: "pmin",
  and: "or",
  or: "and",
  eq: "ne",
  ne: "eq",
  ltS: "leS",
  leS: "ltS",
  gtS: "geS",
  geS: "gtS",
  lt: "le",
  le: "lt",
  gt: "ge",
  ge: "gt",
  shl: "shrU",
  shrU: "shl",
  shrS: "shrU",
  floor: "ceil",
  ceil: "floor",
  round: "floor",
  trunc: "round",
};

/** Objects whose functions are exchanged: the types of WebAssembly, and Math. */
const instructionSets: ReadonlySet<string> = new Set(
  ["i32", "i64", "f32", "f64", "i8x16", "i16x8", "i32x4", "i64x2", "f32x4", "f64x2", "v128"].concat("Math"),
);

/**
 * All mutations of a file. Left out is what a user only reads (messages of errors), what only sets the pace (estimates of time), and what the type checker alone
 * asks for: a number in place of an element that is there, and whether an operand is missing.
 */
export function mutationsOf(file: string, text: string): readonly Mutation[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true);
  const lines = text.split("\n");
  const found: Mutation[] = [];
  const add = (node: ts.Node, after: string): void => {
    const start = node.getStart(source);
    const { line } = source.getLineAndCharacterOfPosition(start);
    const code = lines[line]?.trim() ?? "";
    found.push({ file, line: line + 1, start, before: text.slice(start, node.end), after, code });
  };
  const visit = (node: ts.Node): void => {
    if (isLeftOut(node)) return;
    if (ts.isBinaryExpression(node)) {
      const after = binary[node.operatorToken.getText(source)];
      if (after !== undefined && !isText(node.left) && !isText(node.right)) add(node.operatorToken, after);
    } else if (ts.isPrefixUnaryExpression(node)) {
      const { operator, operand } = node;
      if (operator === ts.SyntaxKind.MinusToken || operator === ts.SyntaxKind.ExclamationToken)
        add(node, operand.getText(source));
      if (ts.isNumericLiteral(operand)) return;
    } else if (ts.isNumericLiteral(node)) add(node, changedNumber(node.getText(source)));
    else if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, "false");
    else if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, "true");
    else if (
      ts.isPropertyAccessExpression(node) &&
      ts.isIdentifier(node.expression) &&
      instructionSets.has(node.expression.text)
    ) {
      const after = Object.hasOwn(functions, node.name.text) ? functions[node.name.text] : undefined;
      if (after !== undefined) add(node.name, after);
    }
    ts.forEachChild(node, (child) => {
      if (!isForTypes(child, node)) visit(child);
    });
  };
  visit(source);
  return found;
}

function changedNumber(text: string): string {
  const value = Number(text.replaceAll("_", ""));
  return Number.isInteger(value) ? String(value + 1) : String(value * 1.01);
}

/** Whether an expression is there for the type checker: `0` in `list[index] ?? 0` and in `const [size = 0] = list`, and `x === undefined || y === undefined` where an error is thrown. */
function isForTypes(node: ts.Node, parent: ts.Node): boolean {
  if (ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken)
    return node === parent.right && readsElement(parent.left) && isNumber(node);
  if (ts.isBindingElement(parent))
    return node === parent.initializer && ts.isArrayBindingPattern(parent.parent) && isNumber(node);
  return areMissing(node) && isGuard(node);
}

/** Whether an expression asks whether operands are missing, of which operations have a fixed number: `x === undefined || y === undefined`. */
function areMissing(node: ts.Node): boolean {
  return /^\w+ === undefined( \|\| \w+ === undefined)+$/.test(node.getText());
}

/** Whether an expression is a condition, or a part of one, under which an operation is refused or left to the interpreter. */
function isGuard({ parent }: ts.Node): boolean {
  if (ts.isBinaryExpression(parent)) return isGuard(parent);
  return ts.isIfStatement(parent) && /^(?:throw |return undefined;)/.test(parent.thenStatement.getText());
}

/** Whether an expression reads an element: `list[index]`, `list.at(index)`, `text.codePointAt(index)`. */
function readsElement(node: ts.Expression): boolean {
  return (
    ts.isElementAccessExpression(node) || (ts.isCallExpression(node) && /\.(?:at|codePointAt)\([^)]*\)$/.test(node.getText()))
  );
}

function isNumber(node: ts.Node): boolean {
  return ts.isPrefixUnaryExpression(node) ? isNumber(node.operand) : ts.isNumericLiteral(node) || ts.isBigIntLiteral(node);
}

function isText(node: ts.Node): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

/**
 * What decides how work is divided, and never what it computes: estimates of time, when a run yields, and the sizes from which on another loop, which computes the
 * same, is faster.
 */
const pace =
  /Nanosecond|yield|^(inlineBytes|minRowsToCopy|maxDotRows|panelsForFewRows|maxMemoryBoundRows|minPanelsToSplit|splitsColumns|isReadWithCopies|knownExponent|maxUnrolledTaps|blockBytes|blockElements|blockColumns|blockVectors|pieceElements)$/i;

function isLeftOut(node: ts.Node): boolean {
  if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isThrowStatement(node) || ts.isTemplateExpression(node))
    return true;
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true;
  if (ts.isNewExpression(node)) return node.expression.getText().endsWith("Error");
  return (ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node)) && pace.test(node.name.getText());
}
