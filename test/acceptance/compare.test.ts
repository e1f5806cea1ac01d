import MarkdownIt from "markdown-it";
import { describe, expect } from "vitest";
import { begin, latestOf, newest, onlyAReply, say, writesOf } from "./going-back.js";
import { scenario, stickyMarker } from "./world.js";

const measured = {
  agent: `
    if (phase === "enrich") result({ summary: "Wrote the spec.", token_usage: { input: 100, output: 20 } });
    if (phase === "implementing")
      result({ summary: "Wrote it.", token_usage: { input: 1000, output: 50 }, acceptance_criteria: { "It works": true } });`,
};

describe.concurrent("/crunch diff", () => {
  scenario("tells what changed between two checkpoints, and changes nothing", measured, async (world) => {
    const issue = await begin(world);
    const chain = await world.chainOf(issue);
    const { checkpoint_id: specified } = newest(chain, "enrich", "phase_transition");
    const { checkpoint_id: built, issue_snapshot } = newest(chain, "implementing", "phase_transition");
    const { checkpoint_id: last } = latestOf(chain);
    world.github.requests.reset();
    await say(world, issue, `/crunch diff ${specified} ${built}`, "tess");
    expect(writesOf(world)).toEqual(onlyAReply);
    const [reply = ""] = await world.replies(issue);
    expect(reply).toContain("`implementing` succeeded.");
    expect(reply).toContain(`| | \`${specified}\` | \`${built}\` |`);
    expect(reply).toMatch(/\| tokens \| 120 \| 1,170 \(\+1,000 in, \+50 out\) \|/);
    expect(reply).toContain(`| code | none | \`${issue_snapshot.head_sha?.slice(0, 7)}\` |`);
    expect(reply).toMatch(/the gate `tests` passes now/);
    expect(reply).toMatch(/It works: not judged → met/);
    expect(reply).toMatch(
      /`notes\/scripted.md` changed, \+1 −0 lines[\s\S]*```diff[\s\S]*\n\+- implementing\n/,
    );
    expect(reply).toMatch(/`work.txt` added/);

    await say(world, issue, `/crunch diff ${built}`);
    await say(world, issue, `/crunch diff ${last} ${built}`);
    const [, toLatest = "", backwards = ""] = await world.replies(issue);
    for (const text of [toLatest, backwards]) {
      expect(text).toContain(`| | \`${built}\` | \`${last}\` |`);
      expect(text).toContain("`docs` succeeded.");
      expect(text).toMatch(/\+# Validation\n\+\n\+It is fine\./);
    }
    expect(await world.chainOf(issue)).toHaveLength(chain.length);
  });

  scenario("of one checkpoint with itself says so; what is not there is refused", {}, async (world) => {
    const issue = await world.openIssue();
    await say(world, issue, "/crunch diff CP-enrich-20200101-dead");
    await world.label(issue, "state:enrich");
    await world.idle();
    const { checkpoint_id: id } = latestOf(await world.chainOf(issue));
    await say(world, issue, `/crunch diff ${id} latest`);
    await say(world, issue, `/crunch diff ${id} CP-enrich-20200101-dead`);
    await say(world, issue, `/crunch diff ${id} ${id} ${id}`);
    await say(world, issue, "/crunch diff");
    await say(world, issue, `/crunch diff ${id}`, "rob");
    expect(await world.replies(issue)).toEqual([
      expect.stringContaining("no run has begun"),
      expect.stringContaining("Both are the same checkpoint."),
      expect.stringContaining("no checkpoint `CP-enrich-20200101-dead`"),
      expect.stringContaining("at most 2 checkpoint ids"),
      expect.stringContaining("needs the id of a checkpoint"),
      expect.stringContaining("@rob has read access"),
    ]);
  });
});

const words = [
  "@octo @octo/everyone look here",
  "</details></summary><script>alert(1)</script><img src=x onerror=alert(1)>",
  `${stickyMarker} <!-- crunch:reply:0000000000000000 -->`,
  "````",
  "/crunch rollback CP-enrich-20200101-dead",
  "# Crunch is done",
  "[approve](javascript:alert(1)) \u202e turned",
].join("\n");

const hostile = {
  agent: `
    const words = ${JSON.stringify(words)};
    notes(words);
    if (phase === "implementing") {
      result({ summary: words, acceptance_criteria: { [words]: true } });
      output("@octo <b>.md", words);
      write("@octo <i>.txt", words);
    }`,
};

const html = new MarkdownIt({ html: true });
const ours = "h3|p|ul|li|table|thead|tbody|tr|th|td|strong|em|code|pre|a|details|summary";

describe.concurrent("what an agent wrote", () => {
  scenario("neither mentions anybody nor breaks out of the comparison", hostile, async (world) => {
    const issue = await begin(world);
    const chain = await world.chainOf(issue);
    const [a, b] = [
      newest(chain, "enrich", "phase_start"),
      newest(chain, "implementing", "phase_transition"),
    ];
    await say(world, issue, `/crunch diff ${a.checkpoint_id} ${b.checkpoint_id}`);
    const [reply = "", ...more] = await world.replies(issue);
    expect(more).toEqual([]);
    expect(reply).toMatch(/^<!-- crunch:reply:[0-9a-f]{16} -->\n/);
    const page = html.render(reply.slice(reply.indexOf("\n")));
    expect(page).toContain("look here");
    expect(page.match(new RegExp(`<(?!/?(?:${ours})\\b)[^>]*>`, "g"))).toBeNull();
    expect(page.match(/<details>/g)?.length).toBe(page.match(/<\/details>/g)?.length);
    expect(page.match(/<h\d/g)).toEqual(["<h3"]);
    expect(page).not.toContain("\u202e");
    const outsideOfCode = page.replace(/<pre>[\s\S]*?<\/pre>|<code>[\s\S]*?<\/code>/g, "");
    expect(outsideOfCode).not.toMatch(/@\w|href="javascript/);
    // Crunch still knows its own comment from what it quotes, and obeys none of it.
    expect(await world.sticky(issue)).toContain("Crunch is done");
    expect((await world.chainOf(issue)).map(({ trigger }) => trigger)).not.toContain("rollback");
  });
});
