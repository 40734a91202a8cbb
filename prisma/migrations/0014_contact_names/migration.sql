-- AlterTable
ALTER TABLE "contacts" ADD COLUMN     "givenFirstName" BOOLEAN,
ADD COLUMN     "givenLastName" BOOLEAN;
