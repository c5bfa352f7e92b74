export default {
  dialect: "postgresql",
  schema: "./schema.js",
  out: "./migrations",
  dbCredentials: { url: process.env.DATABASE_URL },
};
