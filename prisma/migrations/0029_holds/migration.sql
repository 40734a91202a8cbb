-- Networks ask to wait with one recipient, one instance or one account.
CREATE TABLE "send_holds" (
  "key" TEXT NOT NULL,
  "until" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "send_holds_pkey" PRIMARY KEY ("key")
);
ALTER TABLE "messages" ADD COLUMN "heldBy" TEXT;
