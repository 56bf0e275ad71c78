/**
 * Images as `npm run image` builds them: what is inside, and containers of them under the limits of an operator. On request: packages of Debian and 250 MB of engines are
 * fetched, and podman and buildah must run.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleAssets } from "../../scripts/release/assets.ts";
import { buildImage, imageBudgets } from "../../scripts/release/build-image.ts";
import { buildProgram } from "../../scripts/release/build-program.ts";
import { flavors, targets } from "../../scripts/release/targets.ts";
import { version } from "../../src/version.ts";
import { needsInstalled, problemOfInstallation } from "../fixtures/installed.ts";
import { hasSharedData, sharedData } from "../fixtures/shared-data.ts";
import { onRequest, runsAll } from "../fixtures/slow.ts";
import { keysFile, streamedTexts } from "./fixtures/container.ts";
import { Podman, withRoot } from "./fixtures/podman.ts";

const canRun = process.platform === "linux" && process.arch === "x64" && process.getuid?.() === 0 && hasSharedData;
const out = mkdtempSync(join(tmpdir(), "inferyard-images-"));
const small = `localhost/inferyard:${version}`;
const omni = `localhost/inferyard:omni-${version}`;
const models = ["--volume", `${join(sharedData, "tinyllm")}:/models:ro`];
const started: string[] = [];
let podman: Podman;
afterAll(() => {
  for (const name of started) podman.call("rm", "--force", name);
  rmSync(out, { recursive: true, force: true });
});

/** A free port of this machine: containers share its network. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Paths of everything below a folder, with the mode. */
function walk(folder: string, prefix = ""): { path: string; mode: number; isLink: boolean; isFolder: boolean }[] {
  return readdirSync(join(folder, prefix)).flatMap((name) => {
    const path = `${prefix}/${name}`;
    const status = lstatSync(join(folder, path));
    const own = { path, mode: status.mode & 0o7777, isLink: status.isSymbolicLink(), isFolder: status.isDirectory() };
    return [own, ...(own.isFolder ? walk(folder, path) : [])];
  });
}

describe.skipIf(!canRun || !runsAll)(onRequest("images", "it fetches 250 MB")[1], () => {
  const sizes: Record<string, number> = {};
  needsInstalled(() =>
    problemOfInstallation(async () => {
      podman = await Podman.open();
      execFileSync("buildah", ["--version"], { stdio: "ignore" });
    }),
  );
  beforeAll(async () => {
    const bundle = await bundleAssets(join(out, "bundle"));
    await buildProgram({ target: targets[0]!, flavor: "inferyard", bundle, out });
    for (const flavor of flavors) sizes[flavor] = (await buildImage(flavor, out)).size;
  }, 1_200_000);

  it.each(flavors)("%s is within its budget", (flavor) => {
    expect(sizes[flavor]).toBeLessThanOrEqual(imageBudgets[flavor] * 1e6);
  });

  it.each([small, omni])("%s says who runs it, what it is, and how its health is asked", (image) => {
    const [described] = JSON.parse(podman.call("image", "inspect", image).stdout) as { Config: object; HealthCheck: unknown }[];
    expect(described).toMatchObject({
      Config: {
        User: "65532:65532",
        Entrypoint: ["/usr/bin/inferyard"],
        Cmd: ["serve"],
        Volumes: { "/data": {} },
        StopSignal: "SIGTERM",
        Labels: {
          "org.opencontainers.image.title": "inferyard",
          "org.opencontainers.image.version": version,
          "org.opencontainers.image.licenses": "Apache-2.0",
          "org.opencontainers.image.revision": expect.stringMatching(/^[0-9a-f]{40}$/) as string,
        },
      },
      HealthCheck: { Test: ["CMD", "/usr/bin/inferyard", "health", "--quiet"] },
    });
  });

  it.each([small, omni])("%s has libraries, licences and one program: no shell, no cache, no test data", (image) => {
    const files = withRoot(image, (root) => walk(root));
    const paths = files.map(({ path }) => path);
    expect(files.filter(({ mode }) => (mode & 0o6000) !== 0)).toEqual([]);
    const writable = files.filter(({ mode, isLink }) => (mode & 0o002) !== 0 && !isLink).map(({ path }) => path);
    expect(writable).toEqual(["/data", "/tmp"]);
    const isExecutable = ({ mode, isFolder, isLink }: (typeof files)[number]): boolean =>
      !isFolder && !isLink && (mode & 0o111) !== 0;
    const programs = files.filter((file) => isExecutable(file) && !/\.so(?:\.|$)/.test(file.path)).map(({ path }) => path);
    expect(programs).toEqual(["/usr/bin/inferyard"]);
    const unwanted =
      /(?:^|\/)(?:\.npm|\.cache|_cacache|cache|apt|tests?|fixtures|goldens[^/]*|shared|\.git)(?:\/|$)|\.(?:deb|tgz|gguf|map)$/;
    expect(paths.filter((path) => unwanted.test(path) && !path.includes("/node_modules/"))).toEqual([]);
    expect(paths.filter((path) => /\/usr\/share\/doc\/[^/]+\/copyright$/.test(path)).length).toBeGreaterThan(3);
    expect(paths).toEqual(expect.arrayContaining(["/etc/ssl/certs/ca-certificates.crt", "/usr/share/doc/inferyard/LICENSE"]));
    const layers = podman.call("image", "inspect", "--format", "{{len .RootFS.Layers}}", image).stdout.trim();
    expect(layers).toBe("1");
  });

  it("is ready with a random uid in 512 MB and half a processor, asks for keys, and ends a stream when it is asked to end", async () => {
    const keys = join(out, "keys");
    writeFileSync(keys, keysFile("key-of-the-test"));
    chmodSync(keys, 0o444);
    const port = await freePort();
    const operators = ["--user=1234567:1234567", "--memory=512m", "--cpus=0.5", `--env=INFERYARD_SERVER_PORT=${port}`];
    const files = [...models, "--volume", `${keys}:/etc/inferyard/keys:ro`];
    const serve = ["serve", "--keys-file=/etc/inferyard/keys", "--model=/models/tinyllm.gguf"];
    const name = podman.start(small, serve, [...operators, ...files]);
    started.push(name);
    await expect.poll(() => podman.call("healthcheck", "run", name).code, { timeout: 280_000, interval: 1000 }).toBe(0);
    expect(podman.call("exec", name, "/bin/sh", "-c", "true").code).not.toBe(0);
    const headers = { "content-type": "application/json", authorization: "Bearer key-of-the-test" };
    const body = JSON.stringify({ prompt: "Once upon a time", max_tokens: 400, stream: true, ignore_eos: true });
    const ask = (sent: Record<string, string>): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/v1/completions`, { method: "POST", headers: sent, body });
    expect((await ask({ "content-type": "application/json" })).status).toBe(401);
    const texts = streamedTexts(await ask(headers));
    expect((await texts.next()).done).toBe(false);
    podman.call("kill", "--signal=TERM", name);
    let last = "";
    for await (const text of texts) last = text;
    expect(last).toBe("[DONE]");
    expect(podman.call("wait", name).stdout.trim()).toBe("0");
    expect(podman.call("inspect", "--format", "{{.State.OOMKilled}}", name).stdout.trim()).toBe("false");
  });

  it("refuses to listen for other machines without keys", () => {
    const { code, stderr } = podman.run(small, []);
    expect([code, stderr]).toEqual([2, expect.stringContaining("allow-anonymous")]);
  });

  it("runs models on the engines of the omni image, without writing but to its volume", () => {
    const read = (args: readonly string[], folder: string): Record<string, unknown> => {
      const { stdout, stderr } = podman.run(omni, [...args, "--json"], ["--user=1234567", "--volume", `${folder}:/models:ro`]);
      if (stdout === "") throw new Error(stderr);
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    for (const target of ["onnx:cpu", "xla:cpu"]) {
      const folder = join(sharedData, "all-MiniLM-L6-v2");
      const { embeddings } = read(["embed", "hello", "--model", "/models", "--target", target], folder);
      expect((embeddings as number[][])[0]![0]).toBeCloseTo(-0.0628, 3);
    }
    for (const target of ["llamacpp:cpu", "xla:cpu"]) {
      const flags = ["--model", "/models/tinyllm.gguf", "--max-new-tokens", "4", "--target", target];
      const { results } = read(["generate", "Once upon a time", ...flags], join(sharedData, "tinyllm"));
      expect((results as { text: string }[])[0]!.text).toBe(", there was a");
    }
  });

  it("finds libraries that the machine mounts: NVIDIA's driver, and libtpu", () => {
    const source = join(out, "empty.c");
    writeFileSync(source, "void *GetPjrtApi(void) { return 0; }\n");
    const library = join(out, "library.so");
    execFileSync("gcc", ["-shared", "-fPIC", "-o", library, source]);
    // NVIDIA's container toolkit mounts into the loader's folder of Debian; GKE's device plugin into /usr/local/nvidia; TPU machines have /lib/libtpu.so.
    for (const path of ["/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"]) {
      const { stdout } = podman.run(omni, ["doctor", "--json"], ["--volume", `${library}:${path}:ro`]);
      const { machine } = JSON.parse(stdout) as { machine: { absent: Record<string, string> } };
      expect(machine.absent["cuda"]).toContain(`the NVIDIA driver library is here (${path})`);
    }
    const { stdout } = podman.run(omni, ["backends", "--verbose"], ["--volume", `${library}:/lib/libtpu.so:ro`]);
    expect(stdout).toMatch(/found 1 +\/lib +default folder of the loader/);
  });
});
