-- CreateTable
CREATE TABLE "metrics_report" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "reporter" UUID NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "metrics_report_pkey" PRIMARY KEY ("id")
);
