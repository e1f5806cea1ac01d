import { route } from "../route.js";
import { appRoutes } from "./app.js";
import { checkRoutes } from "./checks.js";
import { commentRoutes } from "./comments.js";
import { commitRoutes } from "./commits.js";
import { dispatchRoutes } from "./dispatches.js";
import { gitRoutes } from "./git.js";
import { issueRoutes } from "./issues.js";
import { peopleRoutes } from "./people.js";
import { pullRoutes } from "./pulls.js";
import { reactionRoutes } from "./reactions.js";
import { tarballRoutes } from "./tarball.js";

/** In order: the first that matches wins, so the narrower come first. */
export const routes = [
  ...reactionRoutes,
  ...commentRoutes,
  ...issueRoutes,
  ...pullRoutes,
  ...checkRoutes,
  ...commitRoutes,
  ...gitRoutes,
  ...dispatchRoutes,
  ...tarballRoutes,
  ...peopleRoutes,
  ...appRoutes,
  route("GET", "/repos/:owner/:repo", "nothing"),
  route("GET", "/repos/:owner/:repo/issues", "nothing"),
  route("GET", "/repos/:owner/:repo/labels", "nothing"),
  route("GET", "/repos/:owner/:repo/labels/:name", "nothing"),
  route("GET", "/repos/:owner/:repo/issues/:number/labels", "nothing"),
  route("GET", "/repos/:owner/:repo/branches", "nothing"),
  route("GET", "/repos/:owner/:repo/branches/:branch*", "nothing"),
  route("GET", "/rate_limit", "nothing"),
];
