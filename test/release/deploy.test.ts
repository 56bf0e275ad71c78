/** Files of deploy/: what they start and ask is what the program has. charts.long.test.ts renders the chart and starts what it describes. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { chartFolder, plainManifest, readManifest } from "../../scripts/charts/chart.ts";
import { parseDuration } from "../../src/runtime/options/duration.ts";
import { serverDefaults } from "../../src/settings/server-options.ts";
import { version } from "../../src/version.ts";
import { type ContainerSpec, findContainer } from "./fixtures/container.ts";

const read = (path: string): string => readFileSync(join("deploy", path), "utf8");
const files = [
  "helm/inferyard/values.yaml",
  "kubernetes/inferyard.yaml",
  "kserve/v2.yaml",
  "kserve/openai.yaml",
  "compose/compose.yaml",
  "systemd/inferyard.service",
  "image/Containerfile",
];
const templates = readdirSync("deploy/helm/inferyard/templates").map((name) => `helm/inferyard/templates/${name}`);
const reference = ["http", "cli", "configuration"].map((name) => readFileSync(`docs/reference/${name}.md`, "utf8")).join("\n");
const serving = readFileSync("docs/guide/serving.md", "utf8");

describe("files for running the server elsewhere", () => {
  it.each(files.slice(0, -1))("%s starts it with flags that `serve` has", (path) => {
    const flags = [...read(path).matchAll(/(?<![\w-])(--[a-z][a-z-]+)(?==|\b)/g)].map(([, flag]) => flag!);
    const own = flags.filter((flag) => flag !== "--restart");
    expect(own.filter((flag) => !reference.includes(flag))).toEqual([]);
    expect(own).toContain("--port");
  });

  it("image/Containerfile starts and asks it by commands that it has, at the port that it exposes, with variables that it reads", () => {
    const file = read("image/Containerfile");
    const called = [...file.matchAll(/"(serve|health)"/g)].map(([, command]) => command!);
    expect(called.filter((command) => !reference.includes(`\n## ${command}\n`))).toEqual([]);
    expect(called).toEqual(["health", "serve"]);
    expect(file).toContain(`EXPOSE ${/INFERYARD_SERVER_PORT=(\d+)/.exec(file)?.[1]}\n`);
    const variables = [...file.matchAll(/\b(INFERYARD_[A-Z_]+)=/g)].map(([, variable]) => variable!);
    expect(variables.filter((variable) => !reference.includes(`\`${variable}\``))).toEqual([]);
  });

  it.each([...files, ...templates])("%s asks for routes that the server has", (path) => {
    const routes = [...read(path).matchAll(/path: (\/[a-z0-9/]+)/g)].map(([, route]) => route!);
    expect(routes.filter((route) => !reference.includes(`\`GET ${route}\``))).toEqual([]);
  });

  it.each(templates)("%s names metrics that the server has", (path) => {
    const metrics = [...read(path).matchAll(/(?:inferyard|vllm)[_:][a-z_]+/g)].map(([name]) => name);
    expect(metrics.filter((name) => !serving.includes(name))).toEqual([]);
  });
});

/** The containers of the manifests of deploy/, by file. */
const containers = [plainManifest, "deploy/kserve/v2.yaml", "deploy/kserve/openai.yaml"].map(
  (path): [path: string, container: ContainerSpec] => [
    path.split("/").slice(-2).join("/"),
    findContainer(readManifest(readFileSync(path, "utf8"))),
  ],
);

describe.each(containers)("the container of %s", (_path, container) => {
  it("listens on the port that its probes and its service ask", () => {
    const [port] = container.ports;
    expect(container.args).toContain(`--port=${port?.containerPort}`);
    const { startupProbe, livenessProbe, readinessProbe } = container;
    for (const probe of [startupProbe, livenessProbe, readinessProbe].filter((each) => each !== undefined))
      expect([port?.name, port?.containerPort]).toContain(probe.httpGet.port);
  });

  it("writes to nothing but volumes, has no rights of root, and is of this version", () => {
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual(expect.arrayContaining(["/data", "/tmp"]));
    expect(container.env).toContainEqual({ name: "INFERYARD_HOME", value: "/data" });
    expect(container.image).toBe(`inferyard:${version}`);
  });
});

describe("versions and times", () => {
  it("of the chart and of compose are those of the package", () => {
    const chart = parse(readFileSync(join(chartFolder, "Chart.yaml"), "utf8")) as object;
    expect(chart).toMatchObject({ version, appVersion: version });
    expect(read("helm/inferyard/values.yaml")).toContain(`tag: "${version}"`);
    expect(read("compose/compose.yaml")).toContain(`image: inferyard:${version}`);
  });

  it("leave requests the time that the server gives them to end", () => {
    const seconds = parseDuration(serverDefaults.drainTimeout) / 1000;
    const times = [
      /terminationGracePeriodSeconds: (\d+)/.exec(read("helm/inferyard/values.yaml")),
      /terminationGracePeriodSeconds: (\d+)/.exec(read("kubernetes/inferyard.yaml")),
      /stop_grace_period: (\d+)s/.exec(read("compose/compose.yaml")),
      /TimeoutStopSec=(\d+)/.exec(read("systemd/inferyard.service")),
    ].map((match) => Number(match?.[1]));
    expect(times.filter((time) => !(time > seconds))).toEqual([]);
  });

  it("of the user are the same in image and chart", () => {
    const user = /USER (\d+):/.exec(read("image/Containerfile"))?.[1];
    expect(read("kubernetes/inferyard.yaml")).toContain(`runAsUser: ${user}\n`);
  });
});
