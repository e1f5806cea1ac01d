import { describe, expect } from "vitest";
import {
  begin,
  codeBranch,
  ended,
  expectDone,
  historyOf,
  latestOf,
  manual,
  newest,
  onlyARefusal,
  onlyAReply,
  say,
  startAgain,
  stopBot,
  writesOf,
} from "./going-back.js";
import { agentPhases, expectOneOfEverything, names, scenario, scriptedConfig, type World } from "./world.js";

/** Does half of `implementing` and rests, deaf to a polite request to end; a further attempt ends it. */
const halfway = {
  agent: `
    if (phase === "implementing") {
      saw({ attempt, half: textOf("half.txt"), readme: textOf("README.md"), notes: previous.notes });
      if (!existsSync("half.txt")) {
        process.on("SIGTERM", () => {});
        write("half.txt", "half\\n");
        write("README.md", "rewritten\\n");
        output("draft.md", "a draft\\n");
        notes("- half of it is in half.txt\\n");
        report("half of it", 50);
        await rest("half");
        fail("should have been stopped");
      }
    }`,
};

const once = { config: `max_attempts: 1\n${scriptedConfig}` };

const edit = (world: World, issue: number, body: string) =>
  world.api.issues.update({ ...names, issue_number: issue, body });

/** A run whose bot was told to stop while its agent worked on the phase. */
async function stoppedIn(world: World, phase: string): Promise<number> {
  world.hold(phase);
  const issue = await world.openIssue(["state:enrich"]);
  await world.working(phase);
  await stopBot(world);
  world.release(phase);
  return issue;
}

describe.concurrent("a bot that ends in the middle", () => {
  scenario(
    "by SIGTERM saves files, notes and progress within 7 s, and the next attempt finds them",
    halfway,
    async (world) => {
      world.hold("half");
      const issue = await world.openIssue(["state:enrich"]);
      await world.resting("half");
      const began = Date.now();
      await stopBot(world);
      expect(Date.now() - began).toBeLessThan(7_000);
      const saved = latestOf(await world.chainOf(issue));
      expect(saved).toMatchObject({
        trigger: "user_interrupt",
        type: "PRE",
        outcome: "interrupted",
        lease: null,
      });
      expect(saved.partial_work.map(({ path, status }) => `${path} ${status}`).sort()).toEqual([
        ".claude/crunch/1/draft.md added",
        "README.md modified",
        "half.txt added",
      ]);
      expect(saved.progress.map(({ message, percent }) => `${message} ${percent}`)).toEqual([
        "half of it 50",
      ]);
      expect(await world.fileAt(".claude/crunch/1/notes/scripted.md", "crunch/issue-1")).toContain(
        "half.txt",
      );
      expect(await world.sticky(issue)).toMatch(/stopped in `implementing`[\s\S]*`\/crunch resume`/);
      // What is unfinished is on no branch that anybody would merge.
      expect(await world.pulls()).toEqual([]);

      await startAgain(world);
      expect(world.phasesRun()).toEqual(["enrich", "implementing", "implementing", "validation", "docs"]);
      expect(world.saw).toEqual([
        { attempt: 1, half: null, readme: "# Durations\n", notes: "- enrich\n" },
        {
          ...{ attempt: 2, half: "half\n", readme: "rewritten\n" },
          notes: "- enrich\n- implementing\n- half of it is in half.txt\n",
        },
      ]);
      await expectOneOfEverything(world, issue);
      const branch = await codeBranch(world);
      expect(await world.fileAt("half.txt", branch)).toBe("half\n");
      expect(await world.fileAt(".claude/crunch/1/draft.md", branch)).toBeNull();
      expect(await world.fileAt(".claude/crunch/1/draft.md", "crunch/issue-1")).toBe("a draft\n");
    },
  );

  scenario(
    "by SIGKILL is followed by one that goes on by itself; a resume that comes late is told so",
    {},
    async (world) => {
      world.hold("implementing");
      const issue = await world.openIssue(["state:enrich"]);
      await world.working("implementing");
      await stopBot(world, "SIGKILL");
      const lost = await world.comment(issue, "/crunch resume");
      await world.startBot();
      await world.working("implementing", 2);
      await world.redeliverComment(lost);
      await world.until("it is answered", async () => (await world.replies(issue)).length === 1);
      expect(await world.replies(issue)).toEqual([expect.stringContaining("a session is working on it")]);
      world.release("implementing");
      await world.idle();
      await expectOneOfEverything(world, issue);
      expect(world.phasesRun()).toEqual(["enrich", "implementing", "implementing", "validation", "docs"]);
    },
  );

  scenario("by SIGTERM, again and again, has not died: the phase is not given up", once, async (world) => {
    world.hold("enrich");
    const issue = await world.openIssue(["state:enrich"]);
    await world.working("enrich");
    await stopBot(world);
    await world.startBot();
    await world.working("enrich", 2);
    await stopBot(world);
    world.release("enrich");
    await startAgain(world);
    await expectOneOfEverything(world, issue);
    expect(world.journal.slice(0, 3).map(({ phase, attempt }) => `${phase} ${attempt}`)).toEqual([
      ...["enrich 1", "enrich 2", "enrich 3"],
    ]);
  });
});

describe.concurrent("an issue that changed while nobody worked on it", () => {
  scenario(
    "in its text: the diff is shown once and waits; --accept goes on, but not past a further edit",
    {},
    async (world) => {
      const issue = await stoppedIn(world, "implementing");
      await edit(world, issue, "Please write it.\n\nIn French.");
      await startAgain(world);
      const [asked, ...more] = await world.replies(issue);
      expect(more).toEqual([]);
      expect(asked).toMatch(
        /Crunch waits for you[\s\S]*```diff[\s\S]*\n\+In French\.[\s\S]*`\/crunch resume --accept`/,
      );
      expect(await world.sticky(issue)).toContain(
        "Crunch waits before `implementing`: the issue has changed",
      );
      const paused = latestOf(await world.chainOf(issue));
      expect(paused).toMatchObject({ trigger: "pause", pause: { kind: "stale" }, lease: null });

      await stopBot(world, "SIGKILL");
      await startAgain(world);
      expect(await world.replies(issue)).toEqual([asked]);
      expect(latestOf(await world.chainOf(issue)).checkpoint_id).toBe(paused.checkpoint_id);

      await say(world, issue, "/crunch resume");
      expect(await world.replies(issue)).toHaveLength(2);
      await edit(world, issue, "Please write it.\n\nIn Dutch.");
      await say(world, issue, "/crunch resume --accept");
      const again = (await world.replies(issue)).at(-1);
      expect(again).toMatch(/Crunch waits for you[\s\S]*\n\+In Dutch\./);
      expect(world.phasesRun()).toEqual(["enrich", "implementing"]);

      await say(world, issue, "/crunch resume --accept");
      await expectOneOfEverything(world, issue);
      expect(world.journal[2]?.context.issue.body).toBe("Please write it.\n\nIn Dutch.");
      expect(world.phasesRun()).toEqual(["enrich", "implementing", "implementing", "validation", "docs"]);
    },
  );

  scenario(
    "by losing its branch is refused and offered a restart, which begins a new run in the same chain",
    {},
    async (world) => {
      const issue = await stoppedIn(world, "validation");
      const branch = await codeBranch(world);
      await world.api.git.deleteRef({ ...names, ref: `heads/${branch}` });
      await startAgain(world);
      await say(world, issue, "/crunch resume");
      const replies = await world.replies(issue);
      for (const reply of replies) expect(reply).toMatch(/was deleted[\s\S]*`\/crunch restart`/);
      expect(replies).toHaveLength(2);
      expect(await world.headOf(branch)).toBeNull();
      const before = await world.chainOf(issue);
      expect(world.phasesRun()).toEqual(["enrich", "implementing", "validation"]);

      await say(world, issue, "/crunch restart");
      await expectDone(world, issue);
      const chain = await world.chainOf(issue);
      const first = chain[before.length];
      expect(first?.parent_checkpoint_id).toBe(latestOf(before).checkpoint_id);
      expect(first).toMatchObject({
        artifacts: {},
        notes: {},
        issue_snapshot: { branch: null, head_sha: null },
      });
      expect(first?.orchestrator_state.run_id).not.toBe(latestOf(before).orchestrator_state.run_id);
      expect(ended(chain)).toEqual([
        ...["enrich 1", "implementing 1"],
        ...["enrich 2", "implementing 2", "validation 2", "docs 1"],
      ]);
      expect(await world.fileAt("work.txt", branch)).toBe("fine\n");
      expect((await world.pulls()).filter(({ state }) => state === "open")).toHaveLength(1);
    },
  );

  scenario("by other labels goes on without a question", {}, async (world) => {
    const issue = await stoppedIn(world, "implementing");
    await world.label(issue, ["urgent", "help wanted"]);
    await startAgain(world);
    await expectOneOfEverything(world, issue);
    expect(await world.replies(issue)).toEqual([]);
    expect(latestOf(await world.chainOf(issue)).issue_snapshot.labels).toContain("urgent");
  });

  scenario("by a state label that a person moved goes on there", manual, async (world) => {
    const issue = await begin(world);
    await world.unheard(async () => {
      await world.label(issue, "state:docs");
      await world.unlabel(issue, "state:enrich");
    });
    await say(world, issue, "/crunch resume");
    await expectDone(world, issue);
    expect(world.phasesRun()).toEqual(["enrich", "docs"]);
  });

  scenario(
    "by a state label that a person moved while the bot was down goes on there",
    manual,
    async (world) => {
      const issue = await begin(world);
      await stopBot(world, "SIGKILL");
      await world.label(issue, "state:docs", "wim");
      await startAgain(world);
      await expectDone(world, issue);
      expect(world.phasesRun()).toEqual(["enrich", "docs"]);
      expect(await world.replies(issue)).toEqual([]);
    },
  );

  scenario(
    "by a state label of somebody who may only label is put right, and goes on where it was",
    {},
    async (world) => {
      const issue = await stoppedIn(world, "implementing");
      await world.label(issue, "state:docs", "tess");
      await startAgain(world);
      await expectOneOfEverything(world, issue);
      expect(await world.replies(issue)).toEqual([expect.stringContaining("@tess has triage access")]);
      expect(world.phasesRun()).toEqual(["enrich", "implementing", "implementing", "validation", "docs"]);
    },
  );
});

const theirs = { "work.txt": "theirs\n", "by-hand.txt": "mine\n" };

describe.concurrent("files that others pushed while nobody worked", () => {
  scenario("are shown, and --keep-theirs works on top of them", {}, async (world) => {
    const issue = await stoppedIn(world, "docs");
    const branch = await codeBranch(world);
    const pushed = await world.push(branch, theirs);
    await startAgain(world);
    const [asked, ...more] = await world.replies(issue);
    expect(more).toEqual([]);
    expect(asked).toMatch(/2 files were changed[\s\S]*by-hand\.txt[\s\S]*work\.txt/);
    expect(asked).toMatch(/`\/crunch resume --keep-theirs`[\s\S]*`\/crunch resume --keep-mine`/);
    // An answer to another question is none.
    await say(world, issue, "/crunch resume --accept");
    expect(world.phasesRun().filter((phase) => phase === "docs")).toHaveLength(1);
    expect(await world.headOf(branch)).toBe(pushed);

    await say(world, issue, "/crunch resume --keep-theirs");
    await expectOneOfEverything(world, issue);
    const head = (await world.headOf(branch)) ?? "";
    expect((await world.commit(head)).parents).toEqual([pushed]);
    expect(await world.fileAt("work.txt", head)).toBe("theirs\n");
    expect(await world.fileAt("CHANGELOG.md", head)).toBe("- Fixed.\n");
  });

  scenario("are put back by --keep-mine with a commit on top, never by force", {}, async (world) => {
    const issue = await stoppedIn(world, "docs");
    const branch = await codeBranch(world);
    const ours = (await world.headOf(branch)) ?? "";
    const pushed = await world.push(branch, theirs);
    await startAgain(world);
    await say(world, issue, "/crunch resume --keep-mine");
    await expectOneOfEverything(world, issue);
    const head = (await world.headOf(branch)) ?? "";
    const [restored = ""] = (await world.commit(head)).parents;
    expect(await world.commit(restored)).toEqual({
      tree: (await world.commit(ours)).tree,
      parents: [pushed],
    });
    expect(await historyOf(world, head)).toContain(pushed);
    expect(await world.fileAt("work.txt", head)).toBe("fine\n");
    expect(await world.filesAt(head)).not.toContain("by-hand.txt");
    expect(await world.filesAt(head)).toContain("CHANGELOG.md");
  });

  scenario("and a changed text are asked about together, and answered together", {}, async (world) => {
    const issue = await stoppedIn(world, "docs");
    await world.push(await codeBranch(world), theirs);
    await edit(world, issue, "Something else.");
    await startAgain(world);
    const [asked] = await world.replies(issue);
    expect(asked).toMatch(
      /\+Something else\.[\s\S]*by-hand\.txt[\s\S]*`\/crunch resume --accept --keep-theirs`/,
    );
    await say(world, issue, "/crunch resume --keep-theirs");
    expect(world.phasesRun().filter((phase) => phase === "docs")).toHaveLength(1);
    await say(world, issue, "/crunch resume --accept --keep-theirs");
    await expectOneOfEverything(world, issue);
  });
});

const malformed = [
  "../../.github/workflows/x",
  "__proto__",
  "CP-enrich-20250114-a3f2\0",
  `CP-enrich-20250114-${"a".repeat(300)}`,
  "CP-enrich-20250114-a3f2/../x",
  "CP-enrich-20250114-%2e%2e%2f",
  "$(id)",
];

describe.concurrent("/crunch resume", () => {
  scenario("--dry-run shows what would be restored, and changes nothing", manual, async (world) => {
    const issue = await begin(world);
    await world.label(issue, "state:implementing");
    await world.idle();
    const chain = await world.chainOf(issue);
    const tip = await world.headOf("crunch/issue-1");
    const head = await world.headOf(await codeBranch(world));
    const older = newest(chain, "enrich", "phase_transition");
    world.github.requests.reset();
    await say(world, issue, "/crunch resume --dry-run");
    expect(writesOf(world)).toEqual(onlyAReply);
    await say(world, issue, `/crunch resume ${older.checkpoint_id} --dry-run`);
    expect(writesOf(world)).toEqual([...onlyAReply, ...onlyAReply]);
    const [latest, earlier] = await world.replies(issue);
    expect(latest).toContain(`from \`${latestOf(chain).checkpoint_id}\``);
    expect(latest).toMatch(
      /would go on with \| `validation`[\s\S]*outputs \| `spec.md`[\s\S]*can resume \| yes/,
    );
    expect(latest).toContain(`code | ${head?.slice(0, 12)}`);
    expect(earlier).toMatch(/would go on with \| `implementing`[\s\S]*put back \| `notes\/scripted.md`/);
    expect(await world.headOf("crunch/issue-1")).toBe(tip);
    expect(await world.headOf(await codeBranch(world))).toBe(head);
    expect(await world.stateLabels(issue)).toEqual(["state:implementing"]);
    expect(world.phasesRun()).toEqual(["enrich", "implementing"]);
  });

  scenario("with the id of an older checkpoint goes back to it and on from there", {}, async (world) => {
    const issue = await begin(world);
    const target = newest(await world.chainOf(issue), "implementing", "phase_transition");
    const asked = await say(world, issue, `/crunch resume ${target.checkpoint_id}`);
    await expectDone(world, issue);
    const chain = await world.chainOf(issue);
    expect(chain.find(({ trigger }) => trigger === "rollback")?.parent_checkpoint_id).toBe(
      target.checkpoint_id,
    );
    expect(ended(chain)).toEqual([
      ...["enrich 1", "implementing 1", "validation 1", "docs 1"],
      ...["validation 2", "docs 2"],
    ]);
    await world.redeliverComment(asked);
    await world.idle();
    expect(await world.chainOf(issue)).toHaveLength(chain.length);
  });

  scenario(
    "with an id that there is not names those there are; a malformed one goes no further",
    {},
    async (world) => {
      const issue = await begin(world);
      const before = latestOf(await world.chainOf(issue)).checkpoint_id;
      await say(world, issue, "/crunch resume CP-enrich-20200101-dead");
      expect(await world.replies(issue)).toEqual([
        expect.stringMatching(/no checkpoint `CP-enrich-20200101-dead`/),
      ]);
      expect((await world.replies(issue))[0]).toContain(before);
      world.github.requests.reset();
      for (const id of malformed)
        for (const command of ["resume", "rollback", "diff"])
          await world.comment(issue, `/crunch ${command} ${id}`);
      await world.idle();
      const replies = (await world.replies(issue)).slice(1);
      expect(replies).toHaveLength(3 * malformed.length);
      for (const reply of replies) expect(reply).toMatch(/is not a checkpoint id/);
      expect(replies.join()).not.toContain("$(id)");
      expect(new Set(writesOf(world))).toEqual(new Set(onlyARefusal));
      const asked = world.github.requests.entries.map(({ path }) => decodeURIComponent(path)).join("\n");
      expect(asked).not.toMatch(/__proto__|workflows\/x|a3f2/);
      expect(latestOf(await world.chainOf(issue)).checkpoint_id).toBe(before);
      expect(world.phasesRun()).toEqual([...agentPhases]);
    },
  );

  scenario("of somebody without write access does nothing, and is refused once", manual, async (world) => {
    const issue = await begin(world);
    const tip = await world.headOf("crunch/issue-1");
    for (const login of ["rob", "tess"])
      for (const body of ["/crunch resume", "/crunch resume --dry-run", "/crunch restart"])
        await say(world, issue, body, login);
    const replies = await world.replies(issue);
    expect(replies.map((reply) => /@(\w+) has (\w+) access/.exec(reply)?.slice(1))).toEqual([
      ["rob", "read"],
      ["tess", "triage"],
    ]);
    expect(await world.headOf("crunch/issue-1")).toBe(tip);
    expect(world.phasesRun()).toEqual(["enrich"]);
  });

  scenario("has nothing to go on from before a run has begun, and says how to begin", {}, async (world) => {
    const issue = await world.openIssue();
    await say(world, issue, "/crunch resume");
    expect(await world.replies(issue)).toEqual([
      expect.stringMatching(/no run has begun[\s\S]*`state:enrich`/),
    ]);
    expect(await world.headOf("crunch/issue-1")).toBeNull();
  });
});
