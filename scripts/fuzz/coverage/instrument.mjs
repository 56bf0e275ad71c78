/**
 * Compiles a TypeScript module and adds an edge counter to each function, branch, loop body, case, catch clause and operand that may be
 * skipped (the edges that libFuzzer's SanitizerCoverage counts).
 */
import ts from "typescript";
import { allocatorName } from "../allocator-name.mjs";

/** Name of the counters in an instrumented module. */
const counters = "__edgeCounters";

/** JavaScript of a module. `counted`: whether edges are counted; false only removes the types. */
export function compile(source, fileName, counted) {
  let edges = 0;
  const next = (factory) => {
    const index = factory.createNumericLiteral(edges++);
    return factory.createPostfixIncrement(factory.createElementAccessExpression(factory.createIdentifier(counters), index));
  };
  const count = (context) => (file) => {
    const { factory } = context;
    const statement = () => factory.createExpressionStatement(next(factory));
    const block = (body) =>
      ts.isBlock(body)
        ? factory.updateBlock(body, [statement(), ...body.statements])
        : factory.createBlock([statement(), body], true);
    const operand = (expression) => factory.createParenthesizedExpression(factory.createComma(next(factory), expression));
    const visit = (node) => edge(ts.visitEachChild(node, visit, context));
    const edge = (node) => {
      if (ts.isIfStatement(node)) {
        const otherwise = node.elseStatement === undefined ? factory.createBlock([statement()]) : block(node.elseStatement);
        return factory.updateIfStatement(node, node.expression, block(node.thenStatement), otherwise);
      }
      if (ts.isConditionalExpression(node)) {
        const { condition, questionToken, whenTrue, colonToken, whenFalse } = node;
        const [yes, no] = [operand(whenTrue), operand(whenFalse)];
        return factory.updateConditionalExpression(node, condition, questionToken, yes, colonToken, no);
      }
      if (ts.isBinaryExpression(node) && skipping.has(node.operatorToken.kind))
        return factory.updateBinaryExpression(node, node.left, node.operatorToken, operand(node.right));
      if (ts.isCaseClause(node)) return factory.updateCaseClause(node, node.expression, [statement(), ...node.statements]);
      if (ts.isDefaultClause(node)) return factory.updateDefaultClause(node, [statement(), ...node.statements]);
      if (ts.isCatchClause(node)) return factory.updateCatchClause(node, node.variableDeclaration, block(node.block));
      if (ts.isForStatement(node))
        return factory.updateForStatement(node, node.initializer, node.condition, node.incrementor, block(node.statement));
      if (ts.isForOfStatement(node))
        return factory.updateForOfStatement(node, node.awaitModifier, node.initializer, node.expression, block(node.statement));
      if (ts.isForInStatement(node))
        return factory.updateForInStatement(node, node.initializer, node.expression, block(node.statement));
      if (ts.isWhileStatement(node)) return factory.updateWhileStatement(node, node.expression, block(node.statement));
      if (ts.isDoStatement(node)) return factory.updateDoStatement(node, block(node.statement), node.expression);
      if (ts.isArrowFunction(node)) {
        const { modifiers, typeParameters, parameters, type, equalsGreaterThanToken, body } = node;
        const counted = ts.isBlock(body) ? functionBody(body) : operand(body);
        return factory.updateArrowFunction(node, modifiers, typeParameters, parameters, type, equalsGreaterThanToken, counted);
      }
      // A constructor's first statement may have to be `super(...)`: its branches are counted, its entry is that of the class.
      if (ts.isBlock(node) && node.parent !== undefined && isCountedFunction(node.parent)) return functionBody(node);
      return node;
    };
    const functionBody = (body) => {
      const directives = body.statements.filter((each) => ts.isExpressionStatement(each) && ts.isStringLiteral(each.expression));
      return factory.updateBlock(body, [...directives, statement(), ...body.statements.slice(directives.length)]);
    };
    return ts.visitEachChild(file, visit, context);
  };
  const { outputText } = ts.transpileModule(source, {
    fileName,
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      inlineSourceMap: true,
    },
    ...(counted ? { transformers: { before: [count] } } : {}),
  });
  // On the first line, so that lines of the source map stay right.
  return counted ? `const ${counters} = globalThis.${allocatorName}(${edges}); ${outputText}` : outputText;
}

const skipping = new Set([ts.SyntaxKind.AmpersandAmpersandToken, ts.SyntaxKind.BarBarToken, ts.SyntaxKind.QuestionQuestionToken]);

function isCountedFunction(node) {
  return ts.isFunctionDeclaration(node) || ts.isFunctionExpression(node) || ts.isMethodDeclaration(node) || ts.isAccessor(node);
}
