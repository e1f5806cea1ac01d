// The least an Action does that speaks to GitHub: what the start of Crunch's own bundle is measured against.
import { getOctokit } from "@actions/github";

const octokit = getOctokit("token", { baseUrl: process.env.GITHUB_API_URL });
await octokit.rest.repos.get({ owner: "octo", repo: "durations" });
