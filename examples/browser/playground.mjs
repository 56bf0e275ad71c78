// The playground: compiles a program in this page, holds it against the interpreter, and runs it. What a program needs of Inferyard is in `compile` below; the rest is the page.
import { InferyardError } from "inferyard";
import { compileProgram, defineProgram } from "inferyard/browser/program";
import { picks } from "./program-picks.mjs";

const element = (id) => document.getElementById(id);

for (const name of Object.keys(picks)) element("pick").append(new Option(name));
element("pick").addEventListener("change", () => (element("source").value = picks[element("pick").value]));
element("source").value = picks[element("pick").value];
element("program-form").addEventListener("submit", (event) => {
  event.preventDefault();
  void compile();
});

async function compile() {
  for (const id of ["failure", "result", "decision"]) element(id).hidden = true;
  element("compile").disabled = true;
  element("state").textContent = "compiling";
  try {
    // The text is a function of JavaScript that the reader of this page writes: it runs with the rights of this page.
    // oxlint-disable-next-line typescript/no-implied-eval
    const define = new Function(`return (${element("source").value}\n);`)();
    const program = defineProgram(define);
    const names = element("backends")
      .value.split(",")
      .map((name) => name.trim());
    const started = performance.now();
    const kernel = await compileProgram(program, {
      backend: names[0],
      fallbackBackends: names.slice(1),
      weights: numbers(program.weights, program, 11),
    });
    try {
      const compiled = performance.now();
      const outputs = await kernel.run(numbers(program.inputs, program, 1));
      showOutputs(outputs, { compile: compiled - started, run: performance.now() - compiled });
      showDecision(kernel.decision);
    } finally {
      await kernel.dispose();
    }
    element("state").textContent = "done";
  } catch (error) {
    element("state").textContent = "";
    showFailure(error);
  } finally {
    element("compile").disabled = false;
  }
}

/** Numbers from -0.5 to 0.5 for each tensor, the same each time; free dimensions have the sizes that the program was checked with. */
function numbers(tensors, { exampleSizes }, first) {
  return Object.fromEntries(
    tensors.map(({ name, dataType, shape }, tensor) => {
      const sizes = shape.map((size) => (typeof size === "string" ? exampleSizes.get(size) : size));
      const length = sizes.reduce((product, size) => product * size, 1);
      const seed = first + tensor;
      const data = Float32Array.from({ length }, (_, index) => ((index * 7919 + seed * 104_729) % 1009) / 1009 - 0.5);
      if (dataType !== "float32") throw new Error(`"${name}" is ${dataType}: this page has numbers for float32 alone`);
      return [name, { dataType, shape: sizes, data }];
    }),
  );
}

function showOutputs(outputs, { compile: compiling, run }) {
  element("summary").textContent = `compiled and checked in ${compiling.toFixed(0)} ms, run in ${run.toFixed(1)} ms`;
  const rows = Object.entries(outputs).map(([name, { dataType, shape, data }]) =>
    row(name, `${dataType}[${shape.join(", ")}]`, Array.from(data.slice(0, 8), (value) => value.toFixed(6)).join(" ")),
  );
  element("outputs").tBodies[0].replaceChildren(...rows);
  element("result").hidden = false;
}

function showDecision({ candidates, selected }) {
  element("evidence").textContent = selected.evidence.join("; ");
  const rows = candidates.map(({ target, verdict, reason }) => row(target, verdict, reason));
  element("candidates").tBodies[0].replaceChildren(...rows);
  element("decision").hidden = false;
}

function showFailure(error) {
  element("message").textContent = error.message;
  element("code").textContent = error instanceof InferyardError ? error.code : error.name;
  element("failure").hidden = false;
}

function row(...texts) {
  const line = document.createElement("tr");
  for (const text of texts) line.insertCell().textContent = text;
  return line;
}
