import { randomBytes } from "node:crypto";
import { createEmulator } from "emulate";
import { CrunchError } from "../errors.js";
import { appJwt, privateKey } from "./app-token.js";
import { CheckRecords } from "./check-records.js";
import { DispatchRecords } from "./dispatch-records.js";
import type { EmbeddedGitHub, EmbeddedGitHubOptions } from "./embedded-github.js";
import { FaultPlan } from "./faults.js";
import { Front } from "./front.js";
import { Identities, type Role } from "./identities.js";
import { objectOf, textOf } from "./json.js";
import { PullHeads } from "./pull-heads.js";
import { Reactions } from "./reactions.js";
import { RequestLog } from "./request-log.js";
import { seedFiles } from "./seed.js";
import { listen } from "./server.js";
import { Upstream } from "./upstream.js";
import { Webhooks } from "./webhooks.js";

/** The token of a runner is that of GitHub's own Actions App, whose number this is. */
const ACTIONS = { id: 15_368, slug: "github-actions", installationId: 2 } as const;

const permissions = {
  metadata: "read",
  contents: "write",
  issues: "write",
  pull_requests: "write",
  checks: "write",
  actions: "write",
  workflows: "write",
};

/** The emulator's words for a collaborator's role. */
const upstreamRole: Readonly<Record<Role, string>> = {
  admin: "admin",
  maintain: "maintain",
  write: "push",
  triage: "triage",
  read: "pull",
  none: "pull",
};

export async function startEmbeddedGitHub(options: EmbeddedGitHubOptions): Promise<EmbeddedGitHub> {
  const { owner, repo } = options;
  const app = { id: 1_001, slug: options.appSlug ?? "crunch", installationId: 1 };
  const apps = [app, ACTIONS];
  const people: Readonly<Record<string, Role>> = { ...options.people, [owner]: "admin" };
  const tokens = new Map(
    Object.keys(people).map((login) => [login, `ghp_${randomBytes(18).toString("hex")}`]),
  );

  const key = await privateKey();
  const server = await listen(options.port ?? 0);
  const emulator = await createEmulator({
    service: "github",
    port: 0,
    seed: {
      tokens: Object.fromEntries(
        Array.from(tokens, ([login, token]) => [token, { login, scopes: ["repo"] }]),
      ),
      github: {
        // The first is whom the emulator takes for the holder of a token it does not know: the front itself.
        users: [owner, ...Object.keys(people).filter((login) => login !== owner)].map((login) => ({ login })),
        repos: [{ owner, name: repo, auto_init: false }],
        apps: apps.map(({ id, slug, installationId }) => ({
          app_id: id,
          slug,
          name: slug,
          private_key: key,
          permissions,
          events: [],
          installations: [{ installation_id: installationId, account: owner }],
        })),
      },
    },
  });

  const upstream = new Upstream(emulator.url, server.url);
  const identities = new Identities();
  const webhooks = new Webhooks(options.webhook ?? null);
  const dispatches = new DispatchRecords();
  const faults = new FaultPlan();
  const log = new RequestLog();
  const close = async () => {
    webhooks.close();
    await server.close();
    upstream.close();
    await emulator.close();
  };

  const front = new Front({
    ...{ url: server.url, owner, repo, apps, upstream, identities, webhooks, dispatches },
    pulls: new PullHeads(),
    reactions: new Reactions(),
    checks: new CheckRecords(),
  });
  const addPerson = async (login: string, role: Role) => {
    identities.addPerson(login, role, tokens.get(login) ?? "");
    if (login !== owner)
      await front.write("PUT", `/collaborators/${login}`, { permission: upstreamRole[role] });
  };
  /** A first write makes the emulator know the App's bot as a user. */
  const signIn = async ({ id, slug, installationId }: (typeof apps)[number]) => {
    const path = `/app/installations/${installationId}/access_tokens`;
    const made = await upstream.send("POST", path, { authorization: `bearer ${appJwt(id, key)}` });
    const token = textOf(objectOf(made.body).token);
    const body = Buffer.from('{"content":""}');
    await upstream.send("POST", `${front.base}/git/blobs`, { authorization: `token ${token}` }, body);
    identities.addInstallation(token, slug);
    return token;
  };

  try {
    const [actionsToken] = await Promise.all([
      signIn(ACTIONS),
      signIn(app),
      ...Object.entries(people).map(([login, role]) => addPerson(login, role)),
      seedFiles(upstream, front.base, options.files),
    ]);
    server.serve({ front, log, faults });
    return {
      ...{ url: server.url, owner, repo, actionsToken, faults, close },
      app: { ...app, privateKey: key },
      requests: log,
      tokenFor: (login) => tokens.get(login) ?? noSuchPerson(login),
      setWebhook: (target) => webhooks.setTarget(target),
      deliveries: webhooks.deliveries,
      redeliver: (id) => webhooks.redeliver(id),
      deliver: (event, payload, how = {}) => webhooks.deliver(event, payload, how),
      deliveriesSettled: () => webhooks.settled(),
      dispatches: dispatches.repository,
      workflowDispatches: dispatches.workflow,
      setRunnerRun: (runId, status) => void dispatches.runs.set(runId, status),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function noSuchPerson(login: string): never {
  throw new CrunchError({
    code: "EMBEDDED_GITHUB_PERSON",
    message: `The embedded GitHub knows no ${login}`,
    hint: "Name them in `people` when starting it.",
  });
}
