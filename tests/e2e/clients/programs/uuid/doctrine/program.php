<?php
// Doctrine's ORM on a column of type uuid: `program.php migrate`, `program.php run AFTER`.

require 'Doctrine/ORM/autoload.php';

use Doctrine\DBAL\DriverManager;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\EntityManagerInterface;
use Doctrine\ORM\Id\AbstractIdGenerator;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\ORMSetup;
use Doctrine\ORM\Query\ResultSetMappingBuilder;

// Prints a line for the test: a name, and the resulting values.
function report(string $name, string ...$values): void
{
    echo implode(' ', [$name, ...$values]), "\n";
}

class Uuidv7Generator extends AbstractIdGenerator
{
    public function generateId(EntityManagerInterface $em, $entity): string
    {
        return $em->getConnection()->fetchOne('SELECT gen_uuidv7()');
    }
}

#[ORM\Entity, ORM\Table(name: 'events')]
class Event
{
    #[ORM\Id, ORM\Column(type: 'guid'), ORM\GeneratedValue(strategy: 'CUSTOM')]
    #[ORM\CustomIdGenerator(Uuidv7Generator::class)]
    public string $id;

    #[ORM\Column(type: 'text')]
    public string $note = '';
}

function migrate(EntityManager $em): void
{
    $em->getConnection()->executeStatement('CREATE EXTENSION IF NOT EXISTS scru_uuidv7 CASCADE');
    $em->getConnection()->executeStatement(
        'CREATE TABLE events (id uuid PRIMARY KEY DEFAULT gen_uuidv7(), note text NOT NULL);'
    );
}

function run(EntityManager $em, string $after): void
{
    $mapping = new ResultSetMappingBuilder($em, ResultSetMappingBuilder::COLUMN_RENAMING_INCREMENT);
    $mapping->addRootEntityFromClassMetadata(Event::class, 'event');
    $select = "SELECT {$mapping->generateSelectClause()} FROM events AS event";

    $readable = "$select WHERE id > :after AND id < uuidv7_horizon() ORDER BY id";
    $feed = $em->createNativeQuery($readable, $mapping)->setParameter('after', $after)->getResult();
    report('feed', ...array_column($feed, 'id'));

    $made = new Event();
    $made->note = 'made';
    $em->wrapInTransaction(fn () => $em->persist($made));
    report('made', $made->id);

    $since = new DateTimeImmutable('-1 hour');
    $recent = "$select WHERE id >= CAST(:since AS timestamptz) ORDER BY id";
    $query = $em->createNativeQuery($recent, $mapping)->setParameter('since', $since, 'datetimetz_immutable');
    $lastHour = $query->getResult();
    report('found_by_time', ...array_column($lastHour, 'id'));

    $columns = "SELECT uuidv7_timestamp(id) AS created_at, uuidv7_prefixed('event', id) AS typeid FROM events WHERE id = ?";
    ['created_at' => $createdAt, 'typeid' => $typeid] = $em->getConnection()->fetchAssociative($columns, [$made->id]);
    report('created_at', (new DateTimeImmutable($createdAt))->format('Uv'));
    report('typeid', $typeid);
}

[, $command, $after] = [...$argv, ''];
$url = parse_url(getenv('DATABASE_URL'));
$connection = DriverManager::getConnection([
    'driver' => 'pdo_pgsql',
    'host' => $url['host'],
    'port' => $url['port'],
    'dbname' => substr($url['path'], 1),
    'user' => $url['user'],
    'password' => $url['pass'],
]);
$em = new EntityManager($connection, ORMSetup::createAttributeMetadataConfiguration([__DIR__], true));
$command === 'migrate' ? migrate($em) : run($em, $after);
