/**
 * Clients that generators write from GET /openapi.json: they compile, and embed what POST /api/embed gives; and the document is valid as OpenAPI 3.1
 * and 3.0. Where a registry, Java or Go is absent the tests say so and are skipped.
 */
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPython, needsInstalled, problemOf, pythonOf } from "../fixtures/installed.ts";
import { type ServerProcess, ServerProcesses, embed, ready } from "../fixtures/processes/server-process.ts";
import { onRequest } from "../fixtures/slow.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "inferyard-openapi-generators-"));
const packages = ["openapi-python-client==0.29.1", "openapi-generator-cli==7.26.0", "openapi-spec-validator==0.9.0"];
needsInstalled(() => installPython(folder, packages));

const servers = new ServerProcesses();
let server: ServerProcess;
let vectors: number[][];
const document = (version: string): string => join(folder, `openapi-${version}.json`);
beforeAll(async () => {
  server = await servers.serve([]);
  await ready(server);
  for (const version of ["3.0", "3.1"])
    writeFileSync(document(version), await (await fetch(`${server.url}/openapi.json?version=${version}`)).text());
  vectors = ((await (await embed(server, { input: ["a cat", "a dog"] })).json()) as { embeddings: number[][] }).embeddings;
});
afterAll(() => {
  servers.killAll();
  servers.remove();
  rmSync(folder, { recursive: true, force: true });
});

const environment = { ...process.env, NO_PROXY: "127.0.0.1" };
const python = async (program: string): Promise<string> =>
  (await run(pythonOf(folder), ["-c", program], { cwd: folder, env: environment })).stdout;
const toolOf = (name: string): string => join(pythonOf(folder), "..", name);

it.each([
  ["3.0", "OpenAPIV30SpecValidator"],
  ["3.1", "OpenAPIV31SpecValidator"],
])("the document of version %s is valid", async (version, validator) => {
  const program = [
    "import json, openapi_spec_validator",
    `document = json.load(open(${JSON.stringify(document(version))}))`,
    `print(document["openapi"], [error.message for error in openapi_spec_validator.${validator}(document).iter_errors()])`,
  ];
  expect(await python(program.join("\n"))).toMatch(new RegExp(`^${version.replace(".", "\\.")}\\.\\d \\[\\]\n$`));
});

describe(packages[0]!, () => {
  it.each(["3.0", "3.1"])("from version %s: all routes are there, and it embeds", async (version) => {
    const name = `client_${version.replace(".", "_")}`;
    const args = ["generate", "--path", document(version), "--output-path", join(folder, name), "--meta", "none"];
    const { stdout } = await run(toolOf("openapi-python-client"), args, { cwd: folder });
    expect(stdout).not.toMatch(/WARNING|unable to|not supported/i);
    const program = [
      "import json",
      `from ${name} import Client`,
      `from ${name}.api.default import post_api_embed`,
      `from ${name}.models import EmbedRequest`,
      `answer = post_api_embed.sync(client=Client(base_url="${server.url}"), body=EmbedRequest(input_=["a cat", "a dog"]))`,
      "print(json.dumps(answer.embeddings))",
    ];
    expect(JSON.parse(await python(program.join("\n")))).toEqual(vectors);
  });
});

const [skipGo, go] = onRequest(`${packages[1]}, Go`, "Go compiles for a minute");
describe.skipIf(skipGo)(go, () => {
  needsInstalled(() =>
    problemOf(() => {
      execFileSync("java", ["-version"], { stdio: "pipe" });
      execFileSync("go", ["version"], { stdio: "pipe" });
    }),
  );
  const main = `package main

import (
	"context"
	"encoding/json"
	"os"

	client "example.com/client"
)

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Args[1]}}
	texts := []string{"a cat", "a dog"}
	request := client.NewEmbedRequest(client.EmbedRequestInput{ArrayOfString: &texts})
	answer, _, err := client.NewAPIClient(configuration).DefaultAPI.PostApiEmbed(context.Background()).EmbedRequest(*request).Execute()
	if err != nil {
		panic(err)
	}
	json.NewEncoder(os.Stdout).Encode(answer.Embeddings)
}
`;
  it("from version 3.1: it compiles, and embeds", async () => {
    const output = join(folder, "go");
    await run(toolOf("openapi-generator-cli"), ["generate", "-i", document("3.1"), "-g", "go", "-o", output], {
      cwd: folder,
      maxBuffer: 2 ** 26,
    });
    const program = join(output, "example");
    await run("mkdir", [program]);
    writeFileSync(join(program, "main.go"), main);
    writeFileSync(join(output, "go.mod"), "module example.com/client\n\ngo 1.23\n");
    const { stdout } = await run("go", ["run", "./example", server.url], { cwd: output, env: environment });
    const found = JSON.parse(stdout) as number[][]; // Go writes the shortest decimals of a float32
    expect(found.map((vector) => vector.map(Math.fround))).toEqual(vectors);
  });
});

const [skipJava, java] = onRequest(`${packages[1]}, Java`, "Maven fetches and compiles for a minute");
describe.skipIf(skipJava)(java, () => {
  needsInstalled(() => problemOf(() => void execFileSync("mvn", ["--version"], { stdio: "pipe" })));
  const main = `package org.openapitools.client;

import java.util.List;
import org.openapitools.client.api.DefaultApi;
import org.openapitools.client.model.EmbedRequest;

public class Example {
  public static void main(String[] arguments) throws Exception {
    DefaultApi api = new DefaultApi(new ApiClient().setBasePath(arguments[0]));
    System.out.println(JSON.serialize(api.postApiEmbed(new EmbedRequest().input(List.of("a cat", "a dog"))).getEmbeddings()));
    System.exit(0);
  }
}
`;

  it("from version 3.0: it compiles, and embeds", async () => {
    const output = join(folder, "java");
    const parts = "models,apis,supportingFiles,modelTests=false,apiTests=false,modelDocs=false,apiDocs=false";
    const args = ["generate", "-i", document("3.0"), "-g", "java", "-o", output, "--global-property", parts];
    const options = { cwd: folder, maxBuffer: 2 ** 26, env: environment };
    await run(toolOf("openapi-generator-cli"), args, options);
    writeFileSync(join(output, "src/main/java/org/openapitools/client/Example.java"), main);
    const goals = ["-q", "-DskipTests", "compile", "org.codehaus.mojo:exec-maven-plugin:3.5.0:java"];
    const example = ["-Dexec.mainClass=org.openapitools.client.Example", `-Dexec.args=${server.url}`];
    const { stdout } = await run("mvn", [...goals, ...example], { ...options, cwd: output });
    expect(JSON.parse(stdout.split("\n").find((line) => line.startsWith("[[")) ?? "")).toEqual(vectors);
  });
});
