-- Instances of a team named the member who created them. They name the owner of the workspace, as what comes in through them will.
UPDATE "instances" i SET "userId" = w."ownerId" FROM "workspaces" w WHERE w."id" = i."workspaceId" AND i."userId" <> w."ownerId";
