// Embeds, ranks and explains with the built-in model: no download, no native library. Run with `npm run quickstart`.
import { createRuntime } from "inferyard";

const runtime = await createRuntime();

const passages = [
  "The invoice is due thirty days after delivery.",
  "Our office is closed on public holidays.",
  "You can return a damaged article within two weeks.",
  "The cafeteria serves lunch from noon to two.",
];
const question = "How long do I have to send back something broken?";

const { embeddings, dimensions, target, decision } = await runtime.embed([question, ...passages]);
const [asked, ...found] = embeddings;
const dot = (a, b) => a.reduce((sum, value, index) => sum + value * b[index], 0); // unit vectors: this is the cosine
const ranked = passages.map((text, index) => ({ text, score: dot(asked, found[index]) })).sort((a, b) => b.score - a.score);

console.log(`${question}\n`);
for (const { text, score } of ranked) console.log(`  ${score.toFixed(3).padStart(6)}  ${text}`);
console.log(`\nbuiltin, ${dimensions} dimensions, computed by ${target}. Every candidate, and why:\n`);
for (const candidate of decision.candidates)
  console.log(`  ${candidate.target.padEnd(14)} ${candidate.verdict.padEnd(10)} ${candidate.reason}`);
console.log(`\nEvidence: ${decision.selected.evidence.join("; ")}`);

await runtime.dispose();
